"""Points of promises that an alternative of an assumption may change."""

from __future__ import annotations

from simulator.conformance.rules import AssumedPoint, Finding

_NOT_SHOWN = ("GET /webhooks", "GET /wallet/assets", "GET /currencies")
"""Lists whose response the specification does not show."""
_OPTIONAL_TEXTS = ("reference", "label", "description", "pause_reason")


def _is_bare_list(found: Finding) -> bool:
    return found.operation in _NOT_SHOWN and found.answer.startswith("[")


def _lacks_an_optional_text(found: Finding) -> bool:
    member = found.place.rpartition(".")[2]
    return (
        found.rule in ("shape.required", "event.shape")
        and member in _OPTIONAL_TEXTS
        and found.message.endswith("is a required property")
    )


ASSUMED = (
    AssumedPoint("L6", _is_bare_list),
    AssumedPoint("H19", _lacks_an_optional_text),
)
