"""Every package of the simulator has a README.md that names each of its modules and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.measures import PACKAGE, sources

PACKAGES = sorted({path.parent for path in sources() if path.name == "__init__.py"} - {PACKAGE})
_ROW = re.compile(r"^\| `(\w+)` \| \S.* \|$", re.MULTILINE)
_FIRST = re.compile(r"^Start with (.+)\.$", re.MULTILINE)


def _name(package: Path) -> str:
    return package.relative_to(PACKAGE).as_posix()


@pytest.mark.parametrize("package", PACKAGES, ids=_name)
def test_a_package_describes_each_of_its_modules_and_packages(package: Path) -> None:
    page = (package / "README.md").read_text("utf-8")
    assert page.startswith(f"# {_name(package)}\n\n")
    inside = {path.stem for path in package.glob("*.py")} - {"__init__"}
    inside |= {path.parent.name for path in package.glob("*/__init__.py") if path.parent in PACKAGES}
    assert sorted(_ROW.findall(page)) == sorted(inside)


@pytest.mark.parametrize("package", PACKAGES, ids=_name)
def test_the_recommended_pages_exist(package: Path) -> None:
    page = (package / "README.md").read_text("utf-8")
    for first in _FIRST.findall(page):
        for name in re.findall("`([^`]+)`", first):
            assert any((package / found).exists() for found in (name, f"{name}.py", f"{name}/README.md")), name


@pytest.mark.parametrize("package", PACKAGES, ids=_name)
def test_a_readme_is_read_in_a_minute(package: Path) -> None:
    assert 3 <= (package / "README.md").read_text("utf-8").count("\n") <= 45
