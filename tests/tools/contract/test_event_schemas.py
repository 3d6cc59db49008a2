"""The event schemas accept additions, and reject an event without the fields that its type promises."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import jsonschema_rs
import orjson
import pytest

from simulator.engine.text.json import JsonObject
from tests.shipped import shown

GONE = "gone"


@pytest.fixture(scope="module")
def failed() -> JsonObject:
    """An offramp that failed."""
    envelopes = shown()["payout-fails"].envelopes
    return next(event for event in envelopes if event["type"] == "transaction.failed")


@pytest.fixture(scope="module")
def schema(files: dict[str, bytes]) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(orjson.loads(files["events/transaction.failed.schema.json"]))


def changed(event: JsonObject, **members: Any) -> JsonObject:
    """The event with other members in its object; without those that are GONE."""
    copied = deepcopy(event)
    shown_object = {**copied["data"]["object"], **members}
    copied["data"]["object"] = {name: value for name, value in shown_object.items() if value != GONE}
    return copied


def test_new_fields_and_values_are_accepted(failed: JsonObject, schema: jsonschema_rs.Draft202012Validator) -> None:
    assert schema.is_valid(failed)
    assert schema.is_valid({**changed(failed, surprise=1), "sequence": 7})
    assert schema.is_valid(changed(failed, network="solana", asset="EURC"))


@pytest.mark.parametrize(
    "members",
    [{"failure_code": GONE}, {"status": "completed"}, {"type": "teleport"}, {"id": GONE}, {"source_amount": 30}],
)
def test_specified_event_fields_are_required(
    members: dict[str, Any], failed: JsonObject, schema: jsonschema_rs.Draft202012Validator
) -> None:
    assert not schema.is_valid(changed(failed, **members))
