"""Presets: common faults. Except for `slow-day`, they have the names that `rampsim explore` uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from simulator.engine.faults.models import CallMembers, Deliver, Match, WebhookMatch
from simulator.engine.rows.error import ApiError
from simulator.engine.text.fields import Text
from simulator.engine.text.json import JsonObject
from simulator.engine.text.shapes import Known
from simulator.engine.text.strict import did_you_mean


class Preset(NamedTuple):
    """One preset: a description of the fault, and the fields that define it."""

    means: str
    fault: Mapping[str, Any]


PRESETS: Mapping[str, Preset] = {
    "refused-429": Preset(
        "The call is refused with 429 and Retry-After.",
        {"respond": {"status": 429, "code": "rate_limited", "retry_after": 1}},
    ),
    "refused-500": Preset("The call is refused with 500.", {"respond": {"status": 500, "code": "internal_error"}}),
    "refused-503": Preset("The call is refused with 503.", {"respond": {"status": 503, "code": "service_unavailable"}}),
    "answer-lost-after-commit": Preset(
        "The request is processed, but the connection is cut before the response is sent.",
        {"after_commit": True, "drop": True},
    ),
    "answer-lost-before-work": Preset("The connection is cut before the request is processed.", {"drop": True}),
    "answer-late": Preset("The response is six seconds late.", {"answer_delay": "6s"}),
    "slow-day": Preset(
        "Responses are slow: half of them take more than 400 ms, and one in a hundred more than 4 seconds.",
        {"latency": {"median": "400ms", "p99": "4s"}},
    ),
    "answer-garbled": Preset("The response body is cut in half.", {"malformed": "truncate"}),
    "answer-unknown-enum": Preset("The response has an unknown enum value.", {"unknown_enum": True}),
    "answer-extra-field": Preset("The response has an unknown field.", {"extra_field": True}),
    "webhook-doubled": Preset("Every delivery is sent three times.", {"deliver": {"copies": 3}}),
    "webhook-late": Preset("Deliveries arrive six hours late.", {"deliver": {"delay": "6h"}}),
    "webhook-after-final": Preset(
        "Deliveries about earlier states arrive after the delivery about the final state.",
        {"deliver": {"hold": "terminal"}},
    ),
    "webhook-reordered": Preset("A delivery arrives after the next one.", {"deliver": {"reorder": True}}),
    "webhook-lost": Preset("Deliveries are lost and not retried.", {"deliver": {"drop": True}}),
    "webhook-acknowledgement-lost": Preset(
        "The receiver's 2xx is lost, so the delivery is retried.", {"deliver": {"acknowledgement_lost": True}}
    ),
    "webhook-two-at-once": Preset("A delivery is sent twice at the same time.", {"deliver": {"two_at_once": True}}),
    "webhook-before-answer": Preset(
        "A delivery arrives before the response to the call that causes it.", {"deliver": {"before_answer": True}}
    ),
    "webhook-forged": Preset("The signature is wrong.", {"deliver": {"corrupt_signature": True}}),
    "webhook-stale": Preset(
        "X-Timestamp is ten minutes old, and the signature is valid for it.", {"deliver": {"stale_timestamp": True}}
    ),
    "webhook-unknown-type": Preset("The event has an unknown type.", {"deliver": {"unknown_type": True}}),
    "webhook-unknown-enum": Preset("The event has an unknown enum value.", {"deliver": {"unknown_enum": True}}),
}
"""The presets by name. A preset applies until it is removed, unless `times` limits it."""


class PresetFault(CallMembers):
    """A fault given as the name of a preset. The other fields narrow or change the preset."""

    preset: Annotated[Text, Known({name: row.means for name, row in PRESETS.items()})]
    """The name of the preset, such as `webhook-forged`. `GET /_simulator/faults/presets` lists the names."""
    match: Match | None = None
    """The calls to which a preset for calls applies. The default is every call."""
    webhook: WebhookMatch | None = None
    """The deliveries to which a preset for webhooks applies. The default is every delivery."""
    deliver: Deliver | None = None
    """Additional effects on these deliveries, in a preset for webhooks."""


def spelled_out(raw: JsonObject) -> JsonObject:
    """Return a fault with its `preset` spelled out. Other fields override it. Raise `ApiError` 400 at `preset`."""
    if "preset" not in raw:
        return raw
    name = raw["preset"]
    if not isinstance(name, str) or name not in PRESETS:
        meant = did_you_mean(name, PRESETS) if isinstance(name, str) else ""
        message = f"There is no preset {name!r}{meant}. The presets are: {', '.join(PRESETS)}."
        raise ApiError("invalid_parameter", message, "preset")
    preset = PRESETS[name]
    fault: JsonObject = {"webhook": {}} if "deliver" in preset.fault else {"match": {}}
    for given in (preset.fault, {key: value for key, value in raw.items() if key != "preset"}):
        for key, value in given.items():
            both = isinstance(value, Mapping) and isinstance(fault.get(key), Mapping)
            fault[key] = {**fault[key], **value} if both else value
    return fault
