"""What is shipped: the contents of the sdist, and an installation where the kernel could not be compiled."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import numpy as np
import pytest

from sgclearn import reference

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
JUNK = (
    ".mypy_cache/3.11/cache.json",
    ".venv/lib/module.py",
    "build/cp311/CMakeCache.txt",
    "notes.txt",
    "sgc-run/model.safetensors",
    "src/sgclearn/__pycache__/errors.cpython-311.pyc",
    "src/sgclearn/_native/_kernel.cpython-311-x86_64-linux-gnu.so",
)
PROGRAM = """
import sys, warnings
from pathlib import Path
import numpy as np
import sgclearn
from sgclearn import Graph, SGCClassifier, propagate

folder = Path(sys.argv[1])
assert Path(sgclearn.__file__).is_relative_to(sys.prefix), sgclearn.__file__
problem = np.load(folder / "problem.npz")
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    graph = Graph.from_scipy(problem["A"])
    Z = [propagate(problem["X"], graph, n_hops=3) for _ in range(2)][-1]
    clf = SGCClassifier(3, weight_decay=0.02, tol=1e-9).fit(problem["X"], problem["y"], graph=graph)
np.savez(folder / "found.npz", Z=Z, Theta=clf.coef_.T, b=clf.intercept_)
print(*(f"{warning.category.__name__}: {warning.message}" for warning in seen), sep="\\n")
"""


def run(*command: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=100, **options
    )  # type: ignore[call-overload]


def pip(python: Path, *arguments: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    """The pip of this environment, at work in another."""
    return run(sys.executable, "-m", "pip", "--python", python, "--retries", "1", *arguments, **options)


def make_environment(folder: Path) -> Path:
    made = run(sys.executable, "-m", "venv", "--without-pip", folder)
    assert made.returncode == 0, made.stderr
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def without_compiler(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The variables of a machine with no cmake on PATH and a compiler that fails."""
    tools = tmp_path_factory.mktemp("tools")
    compiler = tools / "broken"
    compiler.write_text('#!/bin/sh\necho called > "$0.called"\nexit 1\n')
    compiler.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CMAKE", "SKBUILD"))}
    return {**kept, "PATH": str(tools), "CC": str(compiler), "CXX": str(compiler)}


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory, without_compiler: dict[str, str]) -> Path:
    """An interpreter with all that pip would install to build there, cmake included; else the test is skipped."""
    python = make_environment(tmp_path_factory.mktemp("builder") / "env")
    requirements = list(SETTINGS["build-system"]["requires"])
    for _ in range(2):  # what pyproject.toml names, then what the build backend asks for on top
        installed = pip(python, "install", "-q", *requirements)
        if installed.returncode:
            pytest.skip(f"needs {', '.join(requirements)}, which pip could not install here")
        code = "import scikit_build_core.build as backend; print(*backend.get_requires_for_build_wheel({}), sep='\\n')"
        asked = run(python, "-c", code, cwd=ROOT, env=without_compiler)
        assert asked.returncode == 0, asked.stderr
        requirements = asked.stdout.split("\n")[:-1]
    return python


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with what years of work leave lying about."""
    folder = tmp_path_factory.mktemp("source") / "project"
    left_out = (".git", ".venv", "build", "dist", "_build", "__pycache__", "*.so", ".*_cache", ".hypothesis")
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*left_out))
    return folder


@pytest.fixture(scope="module")
def package_files(source: Path) -> set[str]:
    return {str(path.relative_to(source)) for path in (source / "src").rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def sdist(builder: Path, source: Path, package_files: set[str]) -> Path:
    for name in JUNK:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text("junk")
    code = "import scikit_build_core.build as backend; backend.build_sdist('dist')"
    built = run(builder, "-c", code, cwd=source)
    assert built.returncode == 0, built.stderr
    (path,) = (source / "dist").glob("*.tar.gz")
    return path


def test_sdist_has_the_sources_the_licences_and_nothing_else(sdist, package_files):
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {name for name in names if name.startswith("src/")} == package_files
    assert {f"src/sgclearn/_native/{name}" for name in ("module.cpp", "hop.hpp", "packed.inc")} <= names
    assert {name for name in names if not name.startswith("src/")} == {
        "CHANGELOG.md",
        "CMakeLists.txt",
        "LICENSE",
        "LICENSE-kernel",
        "PKG-INFO",
        "README.md",
        "pyproject.toml",
    }


def test_licence_file_of_the_kernel_has_the_texts_of_what_is_compiled_in(builder):
    (packages,) = builder.parents[1].glob("lib/python*/site-packages")
    (nanobind,) = packages.glob("nanobind-*.dist-info/licenses/LICENSE")
    header = (packages / "nanobind/ext/robin_map/include/tsl/robin_map.h").read_text()
    robin_map = re.sub(r"^ \* ?", "", header[header.index(" *") : header.index("*/")], flags=re.MULTILINE)
    shipped = (ROOT / "LICENSE-kernel").read_text()
    assert nanobind.read_text().strip() in shipped
    assert robin_map.strip() in shipped


def test_sdist_without_a_compiler_installs_and_scipy_serves_with_one_warning(
    sdist, builder, without_compiler, tmp_path
):
    built = pip(
        builder, "wheel", "--no-build-isolation", "--no-deps", "-w", tmp_path, sdist, env=without_compiler
    )
    assert built.returncode == 0, built.stderr
    assert Path(without_compiler["CXX"] + ".called").exists()  # the kernel was tried, not left out
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name == f"sgclearn-{SETTINGS['project']['version']}-py3-none-any.whl"
    python = make_environment(tmp_path / "env")
    installed = pip(python, "install", "-q", "--no-deps", "--no-index", wheel)
    assert installed.returncode == 0, installed.stderr
    # The dependencies are those of the environment that runs the tests: nothing has to be fetched.
    (packages,) = (tmp_path / "env" / "lib").glob("python*/site-packages")
    (packages / "dependencies.pth").write_text("\n".join(p for p in sys.path if p.endswith("site-packages")))

    rng = np.random.default_rng(2903)
    upper = np.triu(rng.random((40, 40)) < 0.1, 1).astype(float)
    A, X, y = upper + upper.T, rng.normal(size=(40, 5)), rng.integers(0, 3, 40)
    np.savez(tmp_path / "problem.npz", A=A, X=X, y=y)
    served = run(python, "-c", PROGRAM, tmp_path, cwd=tmp_path)
    assert served.returncode == 0, served.stderr
    (warning,) = served.stdout.splitlines()
    assert warning.startswith("SgclearnWarning: the compiled kernel is missing, so the slower scipy engine")
    with np.load(tmp_path / "found.npz") as found:
        Z = reference.propagate(X, reference.propagation_matrix(A, "sym", 1.0), 3)
        np.testing.assert_allclose(found["Z"], Z, rtol=1e-10, atol=1e-12)
        slopes = reference.gradient(Z, np.eye(3)[y], np.ones(40), found["Theta"], found["b"], 0.02)
        assert max(np.abs(slope).max() for slope in slopes) < 1e-8
