"""Results of running the included scenarios, and the contract derived from them, computed once for all tests."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import yaml

from contracts.generator import writer
from contracts.generator.evidence import Evidence, ObservedCall, collect
from simulator.contract.files import contracts_directory
from simulator.engine.text.json import JsonObject
from tests.kept import kept


@cache
def shown() -> Mapping[str, Evidence]:
    """Every scenario that ships, run against a server; what each showed, by name."""
    return kept("shown", collect)


def observed_calls() -> list[ObservedCall]:
    """Every call that the scenarios made of an operation of the interface, in their order."""
    return [call for one in shown().values() for call in one.calls if call.operation]


def observed_events() -> list[JsonObject]:
    """Every event that the scenarios sent, in their order."""
    return [event for one in shown().values() for event in one.envelopes]


@cache
def contract_files() -> dict[str, bytes]:
    """All contract files as the code says, by their paths; not to be changed."""
    return kept("contract", lambda: writer.generate(shown().values()))


@cache
def generated(name: str) -> dict[str, Any]:
    """One of the contract files in YAML as the code says, read; not to be changed."""
    return kept(f"generated-{name}", lambda: _read(contract_files()[name]))


@cache
def committed(name: str) -> dict[str, Any]:
    """One of the contract files in YAML as it is committed, read; not to be changed."""
    path = contracts_directory() / name
    return kept(f"committed-{name.replace('/', '.')}", lambda: _read(path.read_bytes()), sources=(path,))


def _read(raw: bytes) -> dict[str, Any]:
    found: dict[str, Any] = yaml.load(raw, yaml.CSafeLoader)
    return found
