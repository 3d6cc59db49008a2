"""The contract files that ship: beside the package in a checkout, inside it when installed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import orjson

STRICT = "openapi.strict.yaml"
_METHODS = ("get", "post", "put", "patch", "delete")


def contracts_directory() -> Path:
    package = Path(__file__).resolve().parents[1]
    installed = package / "_data" / "contracts"
    return installed if installed.is_dir() else package.parent / "contracts"


def contract_file(name: str) -> bytes:
    """One file; FileNotFoundError."""
    return (contracts_directory() / name).read_bytes()


@cache
def contract_document() -> dict[str, Any]:
    """The open contract of the interface as a document; not to be changed."""
    document: dict[str, Any] = orjson.loads(contract_file("openapi.json"))
    return document


class ContractError(Exception):
    """A file is no OpenAPI document; the text says which and why."""


def read_document(path: Path) -> dict[str, Any]:
    """An OpenAPI document in YAML or JSON; ContractError."""
    import yaml  # only what reads contracts of others needs it

    try:
        document = yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ContractError(f"{path} is neither YAML nor JSON: {error}") from None
    if not isinstance(document, dict) or not isinstance(document.get("paths"), dict):
        raise ContractError(f"{path} is no OpenAPI document: it has no paths")
    return document


@cache
def strict_document() -> dict[str, Any]:
    """The strict contract of the interface as a document, for judges; not to be changed."""
    return read_document(contracts_directory() / STRICT)


def operations_of(document: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Every (method, path, operation) of a contract."""
    for path, item in document["paths"].items():
        for method in _METHODS:
            if method in item:
                yield method.upper(), path, item[method]


def followed(document: Mapping[str, Any], part: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a reference in a document leads to, under what stands beside it; KeyError where it leads nowhere."""
    while isinstance(part.get("$ref"), str):
        target: Any = document
        for name in part["$ref"].removeprefix("#/").split("/"):
            target = target[name.replace("~1", "/").replace("~0", "~")]
        part = {**target, **{name: member for name, member in part.items() if name != "$ref"}}
    return part


def operation_ids() -> dict[str, str]:
    """The operationId of each operation, by its method and path."""
    return {
        f"{method} {path}": operation["operationId"] for method, path, operation in operations_of(contract_document())
    }
