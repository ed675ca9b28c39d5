"""Errors are data: no sentence hides its parts, and nobody takes a sentence apart again."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import sgclearn
from sgclearn.cli.output import OPTION_OF

SOURCE = Path(sgclearn.__file__).parent
# They shorten what other libraries say.
OF_OTHERS = {"tables/parsing.py", "validation/reading.py", "datasets/download.py", "datasets/wheels.py"}
SURGERY = re.compile(
    r"(str|repr)\((error|fault|warning|message)\)\.(split|strip|rstrip|replace|removesuffix|removeprefix|partition)"
    r"|re\.\w+\([^\n]*str\((error|fault|warning|message)\)"
    r"|filterwarnings\([^\n]*message="
)
FOREIGN_WARNINGS = {"Sparse CSR tensor support is in beta", "The least populated class"}
_NAMES = [name for name in OPTION_OF if "=" not in name]
# `name=`, or a name of two words; what is quoted or part of a path is the user's own.
NAMED = re.compile(
    rf"(?<![\w'\"/.-])(?:(?:{'|'.join(_NAMES)})=|(?:{'|'.join(name for name in _NAMES if '_' in name)}))"
    rf"(?![\w'\"/]|\.\w)"
)


def literals(node: ast.expr) -> Iterator[str]:
    """Text that is written into an argument of an error, with ... for values."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        parts = (part.value if isinstance(part, ast.Constant) else "..." for part in node.values)
        yield "".join(map(str, parts))
    elif isinstance(node, ast.Tuple):
        for element in node.elts:
            yield from literals(element)
    elif isinstance(node, ast.Starred):
        yield from literals(node.value)
    elif isinstance(node, ast.IfExp):
        yield from [*literals(node.body), *literals(node.orelse)]
    elif isinstance(node, ast.BinOp):
        yield from [*literals(node.left), *literals(node.right)]


def errors(text: str) -> Iterator[tuple[int, list[str]]]:
    """Line of every error and warning that is made, and its texts; the argument it begins with is left out."""
    for node in ast.walk(ast.parse(text)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            continue
        if not node.func.id.endswith(("Error", "Warning")) or hasattr(builtins, node.func.id):
            continue
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        words = [text for argument in node.args for text in literals(argument)]
        words += list(literals(keywords.get("remedy", ast.Constant(None))))
        argument = next(literals(keywords.get("argument", ast.Constant(None))), None)
        if words and argument is not None:
            words[0] = words[0].removeprefix(f"{argument} ")
        yield node.lineno, words


@pytest.mark.parametrize(
    ("code", "is_wrong"),
    [
        ('InputError("n_hops must be 1", argument="n_hops")', False),
        ('InputError("x must be 1", "2", f"choose n_hops={x}")', True),
        ('InputError("x must be 1", remedy=("raise ", "max_iter"))', True),
        ('InputError("x must be 1", "2", ("raise ", Setting("max_iter")))', False),
        ('InputError("x must be 1", f"the file n_hops.csv of {x!r}")', False),
    ],
)
def test_named_parameters_are_found(code: str, is_wrong: bool) -> None:
    assert any(NAMED.search(text) for _, words in errors(code) for text in words) == is_wrong


def test_errors_name_parameters_as_settings_and_give_their_parts() -> None:
    wrong = []
    for path in sorted(SOURCE.rglob("*.py")):
        for line, words in errors(path.read_text(encoding="utf-8")):
            where = f"{path.relative_to(SOURCE)}:{line}"
            wrong += [f"{where} names a parameter: {text}" for text in words if NAMED.search(text)]
            wrong += [f"{where} is a whole sentence: {text}" for text in words if ": got " in text]
            wrong += [f"{where} speaks of a front end: {text}" for text in words if "on the command" in text]
    assert not wrong, "\n".join(wrong)


def test_nobody_takes_our_own_messages_apart() -> None:
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if name in OF_OTHERS or name.startswith("bench/"):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if SURGERY.search(line) and not any(words in line for words in FOREIGN_WARNINGS):
                found.append(f"{name}:{number}: {line.strip()}")
    assert not found, "\n".join(found)
