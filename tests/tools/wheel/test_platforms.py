"""Other processors and systems: the wheel is pure, and each dependency with compiled code has wheels for arm64."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib

from tests.places import ROOT

ARM64_WHEELS = {
    "coincurve": "21.0.0",
    "google-re2": "1.1.20251105",
    "httptools": "0.9.0",
    "markupsafe": "3.0.4",
    "orjson": "3.13.0",
    "pycryptodome": "4.4.0",
    "pydantic-core": "2.50.4",
    "pyroaring": "1.2.0",
    "pyyaml": "6.0.3",
    "uvloop": "0.23.0",
}
"""The versions whose index page was seen to have wheels for manylinux on aarch64 (2026-11-24).

To look again, install the wheel with `uv pip install --python-platform aarch64-unknown-linux-gnu --only-binary :all:`.
"""


def needed(name: str) -> set[str]:
    """The packages that a package needs at run time, without extras, and those that they need."""
    found: set[str] = set()
    for line in importlib.metadata.requires(name) or ():
        required, _, marker = line.partition(";")
        if "extra ==" in marker or ("sys_platform ==" in marker and "linux" not in marker):
            continue
        other = re.split(r"[^A-Za-z0-9._-]", required.strip())[0].lower().replace("_", "-")
        found |= {other} | (needed(other) if other not in found and _is_installed(other) else set())
    return found


def _is_installed(name: str) -> bool:
    try:
        importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _is_pure(name: str) -> bool:
    files = importlib.metadata.distribution(name).files or ()
    return not any(file.suffix in (".so", ".pyd") for file in files)


def test_dependencies_with_compiled_code_have_wheels_for_arm64_in_the_locked_version() -> None:
    lock = dict(re.findall(r"(?m)^([A-Za-z0-9._-]+)==(\S+)$", (ROOT / "requirements.lock").read_text()))
    locked = {name.lower().replace("_", "-"): version for name, version in lock.items()}
    compiled = {name for name in needed("rampsim") if _is_installed(name) and not _is_pure(name)}
    assert {name: locked[name] for name in compiled} == ARM64_WHEELS


def test_the_wheel_of_the_project_is_pure() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    hooks = project["tool"]["hatch"]["build"].get("targets", {}).get("wheel", {}).get("hooks", {})
    assert hooks == {}  # without a build hook hatchling tags a wheel py3-none-any
    assert not list((ROOT / "simulator").rglob("*.so"))
