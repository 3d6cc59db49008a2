"""The included contract files. They are next to the package in a checkout, and inside the package when installed."""

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
    return (contracts_directory() / name).read_bytes()


@cache
def contract_document() -> dict[str, Any]:
    """Return the contract of the API, which allows unknown fields. Do not modify the result, because it is cached."""
    document: dict[str, Any] = orjson.loads(contract_file("openapi.json"))
    return document


class ContractError(Exception):
    """The file is not an OpenAPI document."""


def read_document(path: Path) -> dict[str, Any]:
    """Return the OpenAPI document in a YAML or JSON file. Raise ContractError if the file contains anything else."""
    import yaml  # needed only for other contracts

    try:
        document = yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ContractError(f"{path} is neither YAML nor JSON: {error}") from None
    if not isinstance(document, dict) or not isinstance(document.get("paths"), dict):
        raise ContractError(f"{path} is not an OpenAPI document: it has no paths")
    return document


@cache
def strict_document() -> dict[str, Any]:
    """Return the strict contract of the API, which allows no unknown fields. Do not modify the cached result."""
    return read_document(contracts_directory() / STRICT)


def operations_of(document: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield (method, path, operation) for each operation in a contract."""
    for path, item in document["paths"].items():
        for method in _METHODS:
            if method in item:
                yield method.upper(), path, item[method]


def followed(document: Mapping[str, Any], part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the object in the contract to which the `$ref` in `part` refers, or `part` itself if it has no `$ref`.

    Keywords next to the reference override keywords in its target. Raises KeyError if the reference is invalid.
    """
    while isinstance(part.get("$ref"), str):
        target: Any = document
        for name in part["$ref"].removeprefix("#/").split("/"):
            target = target[name.replace("~1", "/").replace("~0", "~")]
        part = {**target, **{name: member for name, member in part.items() if name != "$ref"}}
    return part


def operation_ids() -> dict[str, str]:
    """Return the operationId for each method and path."""
    return {
        f"{method} {path}": operation["operationId"] for method, path, operation in operations_of(contract_document())
    }
