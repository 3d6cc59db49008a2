"""The contract files that ship: beside the package in a checkout, inside it when installed."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import orjson


def contracts_directory() -> Path:
    package = Path(__file__).resolve().parents[1]
    installed = package / "_data" / "contracts"
    return installed if installed.is_dir() else package.parent / "contracts"


def contract_files() -> dict[str, bytes]:
    """Every file of `contracts/` by its path below it."""
    directory = contracts_directory()
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def contract_file(name: str) -> bytes:
    """One file; FileNotFoundError."""
    return (contracts_directory() / name).read_bytes()


@cache
def contract_document() -> dict[str, Any]:
    """The contract of the interface as a document; not to be changed."""
    document: dict[str, Any] = orjson.loads(contract_file("openapi.json"))
    return document
