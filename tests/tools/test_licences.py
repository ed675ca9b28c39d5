"""The page of licences, and the script that writes it."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
HEADER = "nanobind/ext/robin_map/include/tsl/robin_growth_policy.h"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("licences", ROOT / "tools" / "licences.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cells(page: str) -> list[list[str]]:
    """The rows of all tables of a page."""
    return [
        re.split(r"\n     - ", row.strip()) for row in re.findall(r"\* - ((?:.+\n?)+?)(?=   \* |\n|\Z)", page)
    ]


@pytest.fixture(scope="module")
def written() -> dict[str, list[str]]:
    rows = cells((ROOT / "docs" / "licences.rst").read_text())
    return {str(canonicalize_name(row[0])): row for row in rows if row[0] != "Package"}


def test_page_has_every_requirement_of_the_project(written):
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = settings["project"]
    groups = {"core": project["dependencies"], **project["optional-dependencies"]}
    for group, lines in {**groups, "build": settings["build-system"]["requires"]}.items():
        for line in lines:
            row = written[canonicalize_name(Requirement(line).name)]
            assert row[3] == "core" or group in row[3].split(", ")
    assert all(written[canonicalize_name(Requirement(line).name)][3] == "core" for line in groups["core"])


def test_page_names_a_version_and_a_licence_for_each_package(written):
    assert {"nanobind", "robin-map"} <= written.keys()
    for row in written.values():
        assert re.match(r"\d", row[1]), row
        assert re.search("[a-z]", row[2], re.IGNORECASE), row
        assert "unknown" not in row[2].lower(), row


@pytest.fixture
def install(tmp_path, monkeypatch):
    """A function that puts a package of the given metadata where importlib finds it."""
    monkeypatch.syspath_prepend(tmp_path)

    def put(name: str, *lines: str) -> None:
        folder = tmp_path / f"{name.replace('-', '_')}-3.2.dist-info"
        folder.mkdir()
        folder.joinpath("METADATA").write_text(
            "\n".join(["Metadata-Version: 2.4", f"Name: {name}", "Version: 3.2", *lines])
        )

    return put


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            ("License: old", "Classifier: License :: OSI Approved :: BSD License", "License-Expression: MIT"),
            "MIT",
        ),
        (("License: old", "Classifier: License :: OSI Approved :: BSD License"), "BSD License"),
        (("Classifier: License :: OSI Approved", "License: Zlib"), "Zlib"),
        (
            ("Classifier: License :: Public Domain", "Classifier: License :: OSI Approved :: ISC"),
            "Public Domain, ISC",
        ),
    ],
)
def test_licence_comes_from_the_most_exact_field(script, install, lines, expected):
    install("heron", *lines)
    assert script.licence(script.distribution("heron")) == expected


@pytest.mark.parametrize(
    "line", ["Keywords: none", "License: UNKNOWN", "License: Copyright 1999\n        All rights"]
)
def test_licence_that_is_not_named_is_an_error(script, install, line):
    install("heron", line)
    with pytest.raises(SystemExit, match="heron must name its licence"):
        script.licence(script.distribution("heron"))


def test_page_lists_what_is_needed_in_turn_and_by_whom(script, install, tmp_path):
    mit = "License-Expression: MIT"
    install("heron", mit, "Requires-Dist: Reed_Bed[wet]>=1", "Requires-Dist: absent; extra == 'never'")
    wet = [f"Requires-Dist: {name}; extra == 'wet'" for name in ("otter", "heron")]  # a circle, too
    install("reed-bed", mit, "Provides-Extra: wet", *wet)
    install("otter", mit)
    install("nanobind", "License-Expression: BSD-3-Clause")
    (tmp_path / HEADER).parent.mkdir(parents=True)
    numbers = "".join(
        f"#define TSL_RH_VERSION_{part} {k}\n" for k, part in enumerate(("MAJOR", "MINOR", "PATCH"), 4)
    )
    (tmp_path / HEADER).write_text(f"/**\n * MIT License\n */\n{numbers}")
    page = script.page(
        {"core": ["reed-bed"], "birds": ["heron"], "more": ["otter"], "build": ["nanobind", "otter"]}
    )
    assert cells(page) == [
        ["Package", "Version", "Licence"],
        ["nanobind", "3.2", "BSD-3-Clause"],
        ["robin-map", "4.5.6", "MIT"],
        ["Package", "Version", "Licence", "Needed by"],
        ["heron", "3.2", "MIT", "birds"],
        ["nanobind", "3.2", "BSD-3-Clause", "build"],
        ["otter", "3.2", "MIT", "birds, more, build"],
        ["reed-bed", "3.2", "MIT", "core"],
    ]


def test_page_asks_for_a_package_that_is_not_installed(script, install):
    install("heron", "License-Expression: MIT", "Requires-Dist: no-such-package-here")
    with pytest.raises(SystemExit, match="no-such-package-here must be installed"):
        script.page({"core": ["heron"]})
