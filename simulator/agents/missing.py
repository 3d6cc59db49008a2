"""Errors that list all missing parameters of a refused call. The API itself reports only the first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel

from simulator.agents.session import ToolRefused
from simulator.engine.server.http.router import Router
from simulator.engine.text.json import Shown

CODE = "missing_parameter"


def required_of(model: type[BaseModel]) -> list[str]:
    """Return the names of a body's required fields."""
    return [name for name, field in model.model_fields.items() if field.is_required()]


def of_schemas(schemas: Sequence[Shown]) -> list[str]:
    """Return the properties that all of these JSON Schemas require."""
    first: list[str] = list(schemas[0].get("required", ()))
    return [name for name in first if all(name in schema.get("required", ()) for schema in schemas)]


def of_operation(method: str, path: str) -> list[str]:
    """Return the fields that every variant of an operation's request body requires, or an empty list if the operation
    has no request body.
    """
    found = _router().find(path)
    operation = found[0].get(method) if found else None
    if operation is None:
        return []
    models: Sequence[type[BaseModel]] = operation.bodies() or (operation.body(),)
    return of_schemas([{"required": required_of(model)} for model in models])


@cache
def _router() -> Router[Any]:
    from simulator.host import Simulator

    return Router(list(Simulator().operations))


def refuse(required: Iterable[str], given: Mapping[str, object] | None, status: int | None = None) -> None:
    """If several parameters are missing, raise ToolRefused with all their names."""
    missing = [name for name in required if name not in (given or {})]
    if len(missing) > 1:
        raise ToolRefused(CODE, f"These parameters are missing: {', '.join(missing)}.", param=missing[0], status=status)
