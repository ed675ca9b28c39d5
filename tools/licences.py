"""Write docs/licences.rst: the licence of every package that sgclearn needs, as this environment has it installed.

Run it with `make licences`, which installs the core, all extras and the build requirements first. Licences come from
the metadata of each package: License-Expression (SPDX), else the classifiers, else the field License.
"""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from sgclearn.files import replacing

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "docs" / "licences.rst"
HEAD = """\
Licences
========

.. Written by `make licences`: changes by hand are lost.

sgclearn has the MIT licence. Below is every package that it needs, with what those need in turn, in the versions that
were installed when this page was written.

Compiled into the kernel
------------------------

Their licence texts are in the file `LICENSE-kernel`, which every wheel carries.

"""
INSTALLED = """\

Installed
---------

"""


def roots(pyproject: Path) -> dict[str, list[str]]:
    """Requirements by what asks for them: core, the name of each extra, build."""
    settings = tomllib.loads(pyproject.read_text())
    project = settings["project"]
    return {
        "core": project["dependencies"],
        **project["optional-dependencies"],
        "build": settings["build-system"]["requires"],
    }


def needed(requirement: str) -> dict[str, Distribution]:
    """The distribution that meets the requirement and all that it needs in turn, by canonical name."""
    found: dict[str, Distribution] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [(Requirement(requirement), "")]
    while waiting:
        wanted, asked = waiting.pop()
        name = canonicalize_name(wanted.name)
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": asked}):
            continue
        try:
            package = distribution(name)
        except PackageNotFoundError:
            raise SystemExit(
                f"{wanted.name} must be installed for its licence to be read: got none; run `make licences`."
            ) from None
        found[name] = package
        for inner in {"", *wanted.extras}:
            if (name, inner) not in seen:
                seen.add((name, inner))
                waiting += [(Requirement(line), inner) for line in package.requires or ()]
    return found


def licence(package: Distribution) -> str:
    """What the package says of its licence; an error where it says nothing."""
    metadata = package.metadata
    if "License-Expression" in metadata:
        return str(metadata["License-Expression"])
    classifiers = [line.split(" :: ") for line in metadata.get_all("Classifier", ())]
    names = [parts[-1] for parts in classifiers if parts[0] == "License" and parts[-1] != "OSI Approved"]
    text = metadata["License"].strip() if "License" in metadata else ""
    if not names and "\n" not in text and text.upper() not in ("", "UNKNOWN"):  # a whole text is no name
        names = [text]
    if not names:
        raise SystemExit(f"{metadata['Name']} must name its licence: got none in its metadata; look it up.")
    return ", ".join(names)


def robin_map(nanobind: Distribution) -> tuple[str, str]:
    """Version and licence of the hash map that nanobind brings along, from its own header."""
    path = nanobind.locate_file("nanobind/ext/robin_map/include/tsl/robin_growth_policy.h")
    header = Path(str(path)).read_text()
    version = re.findall(r"#define TSL_RH_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)
    named = re.search(r"^ \* (\w+) License$", header, re.MULTILINE)
    if named is None or len(version) != 3:
        raise SystemExit(
            "robin-map must name its version and licence in its header: got neither; look them up."
        )
    return ".".join(version), named[1]


def table(titles: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table of reStructuredText."""
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in (titles, *rows):
        lines += [f"   {' ' if column else '*'} - {cell}" for column, cell in enumerate(row)]
    return "\n".join(lines) + "\n"


def page(groups: dict[str, list[str]]) -> str:
    """The whole page, for requirements by group."""
    packages: dict[str, Distribution] = {}
    users: dict[str, list[str]] = {}
    for group, requirements in groups.items():
        found = {name: package for line in requirements for name, package in needed(line).items()}
        packages |= found
        for name in found:
            users.setdefault(name, []).append(group)
    nanobind = packages["nanobind"]
    compiled = [
        ("nanobind", nanobind.version, licence(nanobind)),
        ("robin-map", *robin_map(nanobind)),
    ]
    installed = [
        (package.metadata["Name"], package.version, licence(package), _users(users[name]))
        for name, package in sorted(packages.items())
    ]
    first = ("Package", "Version", "Licence")
    return HEAD + table(first, compiled) + INSTALLED + table((*first, "Needed by"), installed)


def _users(groups: list[str]) -> str:
    return "core" if "core" in groups else ", ".join(groups)


def main() -> None:
    text = page(roots(ROOT / "pyproject.toml"))
    with replacing(OUTPUT) as temporary:
        temporary.write_text(text)
    print(f"Written: {OUTPUT.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
