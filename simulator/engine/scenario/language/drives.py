"""What a call of a drive would be refused for, read from the models of the operation that it goes to."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ValidationError

from simulator.engine.faults.models import OF_NEW_NAMES
from simulator.engine.rows.operation import Operation
from simulator.engine.rows.vocabulary import Vocabulary
from simulator.engine.scenario.language.calls import operation_at
from simulator.engine.scenario.language.document import Document, Path, shortened
from simulator.engine.scenario.language.field_sets import models_of
from simulator.engine.scenario.language.parameters import names_of
from simulator.engine.scenario.play.filling import PLACEHOLDER
from simulator.engine.text.fields import Wrong, dotted, wrongs_of


def judge_call(
    vocabulary: Vocabulary, document: Document, path: Path, call: Mapping[str, object], method: str
) -> Operation | None:
    """Warn of what is wrong with the body of a call that is to succeed; returns the operation, if it is to."""
    given, status, body = call[method], call.get("status"), call.get("body")
    row = operation_at(vocabulary, method.upper(), given) if isinstance(given, str) else None
    if row is None or (isinstance(status, int) and status >= 400):
        return None
    if not row.takes_body or (body is not None and not isinstance(body, dict)):
        return row
    found = [_wrongs(model, body or {}) for model in models_of(row)]
    for place, message, is_key in min(found, key=len, default=[]):
        document.warn((*path, "body", *place), message, key=is_key)
    return row


def _wrongs(model: type[BaseModel], body: Mapping[str, object]) -> list[tuple[Path, str, bool]]:
    """What one model finds wrong: the place in the body, what is wrong, whether with its name."""
    known = names_of(model)
    found: list[tuple[Path, str, bool]] = []
    try:
        model.model_validate(body)
    except ValidationError as error:
        wrong = [one for one in wrongs_of(error, body) if not _is_open(one, body)]
        missing = [dotted(one.path) for one in wrong if one.kind == "missing"]
        found += [(one.path, _words(one), False) for one in wrong if one.kind != "missing"]
        if missing:
            found.append(((), f"the call will be refused: without {', '.join(missing)}", False))
    for name in body if known else ():
        if name not in known:
            found.append(((name,), f"the call ignores `{shortened(name)}`; it knows {', '.join(known)}", True))
    return found


def _is_open(one: Wrong, body: Mapping[str, object]) -> bool:
    """Whether the run fills in what stands there, so that nobody knows it yet."""
    value: object = body
    for part in one.path:
        if isinstance(value, str):
            break
        value = value[part] if isinstance(value, dict | list) and _has(value, part) else None  # type: ignore[index]  # _has has looked
    return isinstance(value, str) and PLACEHOLDER.search(value) is not None


def _has(value: object, part: int | str) -> bool:
    if isinstance(value, dict):
        return part in value
    return isinstance(value, list) and isinstance(part, int) and part < len(value)


def _words(one: Wrong) -> str:
    name = one.path[-1] if one.path else "body"
    if one.kind == "string_type" and isinstance(one.value, int | float) and not isinstance(one.value, bool):
        return f"the call will be refused: `{name}` must be a text; write it in quotes: '{one.value}'"
    return f"the call will be refused: `{name}`: {one.why}"


def surprises(root: object) -> bool:
    """Whether a fault of the file puts into bodies what the contract does not name."""
    faults = root.get("faults") if isinstance(root, dict) else None
    for fault in faults if isinstance(faults, list) else ():
        parts = [fault, fault.get("deliver")] if isinstance(fault, dict) else []
        if any(isinstance(part, dict) and set(part) & set(OF_NEW_NAMES) for part in parts):
            return True
    return False


def name_in(reference: object) -> str:
    """The step of the drive that `${quote.id}` names."""
    found = PLACEHOLDER.fullmatch(reference) if isinstance(reference, str) else None
    return found[1].partition(".")[0] if found is not None else ""
