"""Every installation instruction names a wheel, a repository or an index, never the bare public name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from simulator import version
from tests.places import ROOT

_SUFFIXES = {".md", ".py", ".yml", ".yaml", ".json", ".toml", ".ts", ".js", ".j2", ""}
_INSTALLER = re.compile(
    r"\b(?:pip|pipx|uv) (?:pip )?(?:install|run|add)\b|\buvx\b|postCreateCommand|\bspec:|RAMPSIM_SPEC:"
)
_NAMED = re.compile(r"""--(?:spec|from|index-url)[ =",]+\S+(?: "?rampsim\b"?)?""")
"""An installer with an explicit source. The next word is the command to run."""
_BARE = re.compile(r"""(?:^|[\s"'`])rampsim(?:\[[\w,]+\])?(?:[=<>~!]=?[\w.]+)?(?=["'`\s;&|)]|$)(?! @)(?! serve| mcp)""")


def texts() -> Iterator[Path]:
    """The texts that people read or copy, and the code that prints messages."""
    yield from (ROOT / name for name in ("README.md", "SECURITY.md", "Dockerfile"))
    yield from sorted((ROOT / "contracts").glob("*.md"))
    for path in sorted((ROOT / "simulator").rglob("*")):
        if path.is_file() and path.suffix in _SUFFIXES and "vendor" not in path.parts:
            yield path


def bare(line: str) -> bool:
    return _INSTALLER.search(line) is not None and _BARE.search(_NAMED.sub("", line)) is not None


@pytest.mark.parametrize(
    "line",
    [
        "pip install rampsim && rampsim serve",
        'pip install pytest "rampsim[testing]"',
        "pip install 'rampsim[mcp]'",
        "pipx install rampsim==0.1.0",
        "uvx rampsim",
        "          spec: rampsim # what pip installs",
        '"postCreateCommand": "pipx install rampsim",',
    ],
)
def test_bare_name_in_an_install_line_is_recognised(line: str) -> None:
    assert bare(line)


@pytest.mark.parametrize(
    "line",
    [
        'pip install "rampsim[testing] @ git+https://git.example/rampsim.git"',
        "pip install ./rampsim-0.1.0-py3-none-any.whl[mcp]",
        "pipx run --spec dist/rampsim-0.1.0-py3-none-any.whl rampsim serve",
        "pip install --index-url URL rampsim",
    ],
)
def test_named_source_in_an_install_line_is_accepted(line: str) -> None:
    assert not bare(line)


def test_no_text_installs_the_bare_name() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in texts()
        for line in path.read_text("utf-8").splitlines()
        if bare(line)
    ]
    assert found == []


def test_wheels_in_texts_carry_the_present_version() -> None:
    named = {
        (str(path.relative_to(ROOT)), found)
        for path in texts()
        for found in re.findall(r"rampsim-([\d.]+)-py3-none-any\.whl", path.read_text("utf-8"))
    }
    assert named
    assert {found for _, found in named} == {version.__version__}
