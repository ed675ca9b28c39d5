"""Inside a room imports go one way, too: no module needs another that needs it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import sgclearn

PACKAGE = Path(sgclearn.__file__).parent
ROOMS = sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file())
# Classes whose methods offer what other modules of their room do: those import such a module when they are called.
FACADES = ("graph.graph", "graph.converters", "explain.explanation")


def modules_of(folder: Path, package: str) -> dict[str, Path]:
    """Modules by name, such as `sgclearn.graph.ids`; a package has the name of its folder."""
    found = {}
    for path in folder.rglob("*.py"):
        parts = path.relative_to(folder).with_suffix("").parts
        found[".".join([package, *parts]).removesuffix(".__init__")] = path
    return found


def imported(body: list[ast.stmt], deferred: bool) -> Iterator[tuple[str, str]]:
    """Module and name of every import that runs; those for the type checker never do."""
    for statement in body:
        if isinstance(statement, ast.ImportFrom) and statement.module:
            yield from ((statement.module, alias.name) for alias in statement.names)
        elif isinstance(statement, ast.Import):
            yield from ((alias.name, "") for alias in statement.names)
        elif isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            yield from imported(statement.orelse, deferred)
        elif deferred or not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            for field in ("body", "orelse", "finalbody", "handlers", "cases"):
                yield from imported(getattr(statement, field, []), deferred)


def needs_of(modules: dict[str, Path], deferred: bool) -> dict[str, set[str]]:
    """What each module imports of the others, in functions too where that is asked for."""
    needs = {}
    for name, path in modules.items():
        in_functions = deferred and not name.endswith(FACADES)
        pairs = imported(ast.parse(path.read_text(encoding="utf-8")).body, in_functions)
        found = {full if (full := f"{module}.{alias}") in modules else module for module, alias in pairs}
        needs[name] = found & set(modules) - {name}
    return needs


def check(needs: dict[str, set[str]]) -> None:
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        pytest.fail(" > ".join(error.args[1]))


@pytest.mark.parametrize("room", ROOMS)
def test_room_has_no_cycle_of_imports(room):
    modules = modules_of(PACKAGE / room, f"sgclearn.{room}")
    assert modules
    check(needs_of(modules, deferred=False))
    check(needs_of(modules, deferred=True))


@pytest.mark.parametrize(
    ("text", "is_cycle"),
    [
        ("from room.a import x", True),
        ("import room.a", True),
        ("try:\n    from room import a\nexcept ImportError:\n    a = None", True),
        ("def f():\n    from room.a import x", True),
        ("class C:\n    def f(self):\n        if self:\n            from room.a import x", True),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from room.a import x", False),
        ("from room.c import x", False),
    ],
)
def test_cycle_of_imports_is_found(tmp_path, text, is_cycle):
    for name, content in {"__init__": "", "a": "from room.b import y", "b": text, "c": ""}.items():
        (tmp_path / f"{name}.py").write_text(content)
    needs = needs_of(modules_of(tmp_path, "room"), deferred=True)
    if is_cycle:
        with pytest.raises(
            pytest.fail.Exception, match=r"room\.a > room\.b > room\.a|room\.b > room\.a > room\.b"
        ):
            check(needs)
    else:
        check(needs)
