"""Types for the data that tools read about a simulated service. The engine reads `Provider` instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulator.kernel.dataclass import dataclass

if TYPE_CHECKING:
    from simulator.certification.service import Playbook
    from simulator.conformance.laws import RequestHooks, Rulebook
    from simulator.engine.control.operation import ControlOperation
    from simulator.engine.worlds.alternatives import Alternatives
    from simulator.evidence.provided import Probing
    from simulator.exploration.arming import FaultClass
    from simulator.testing.flow_row import Flow


@dataclass(frozen=True)
class Samples:
    """Sample values for requests. They satisfy constraints that a schema cannot describe, so a service accepts them."""

    amounts: Mapping[str, tuple[str, str, int]]
    """Maps a currency to its number of decimals and the smallest and largest amount that all fee products accept."""
    currency_of: Callable[[Mapping[str, Any]], str | None]
    """A function that returns the currency of the amount in a request body, or None if the body does not say."""
    addresses: Mapping[str, tuple[int, Callable[[bytes], str]]]
    """Maps a network to the number of bytes in an address and the function that encodes them."""
    address_names: tuple[str, ...]
    """The names of the fields that contain an address."""
    phones: Mapping[str, str]
    """Maps a country to the pattern of its mobile numbers, in international format."""
    phone_samples: Mapping[str, str]
    """Maps a country to one valid phone number."""
    is_ordinary_phone: Callable[[str, str], bool]
    """A function that returns True if a string is a phone number in a country and does not select an outcome as a test
    value.
    """
    zones: tuple[str, ...]
    """Time zones, as IANA names."""
    disguised: Callable[[str, Callable[[int], bytes]], str | None]
    """A function that replaces a valid address, phone number or account number with another valid one of the same form.
    It takes the value and a source of bytes. For any other string, it returns None. The digits that make a value a test
    value are kept.
    """


@dataclass(frozen=True)
class Compared:
    """The response fields and reference data that `rampsim compare` does not simply compare value by value."""

    states: tuple[str, ...]
    """The fields that contain a status."""
    drawn: tuple[str, ...]
    """The fields with random values, which differ from service to service."""
    spans: tuple[tuple[str, str], ...]
    """Pairs of timestamp fields. Only the difference between the two timestamps is compared."""
    market: tuple[str, ...]
    """The reference data that follows the market."""
    identity: tuple[str, ...]
    """The fields that identify a row of the reference data. Ids may be pseudonyms."""
    partial: tuple[str, ...]
    """The reference data whose entries depend on the calls that were made, so a missing entry is not a change."""


@dataclass(frozen=True)
class Tooling:
    """The data about a simulated service that tools read. Fields are functions if their values import slow modules."""

    alternatives: Alternatives
    """The assumptions that can be changed in a world."""
    control_rows: Callable[[], Sequence[ControlOperation]]
    """The control calls that only this service provides."""
    rulebook: Callable[[], Rulebook]
    """The rules that `rampsim conform` checks."""
    request_hooks: Callable[[], RequestHooks]
    """The changes that `rampsim conform` applies to generated requests."""
    faults: Callable[[], tuple[FaultClass, ...]]
    """The fault classes about money, for `rampsim explore`."""
    pairs: Callable[[], Sequence[tuple[str, str]]]
    """The pairs of fault classes that `rampsim explore` tries first under the plan `pairs-of-faults`."""
    playbook: Callable[[], Playbook]
    """The orders that `rampsim certify` sends to receivers."""
    compared: Callable[[], Compared]
    """The response fields that `rampsim compare` handles in a special way."""
    samples: Callable[[], Samples]
    """The sample data that the test kit's strategies use."""
    why_no_account: Callable[[str], str]
    """A function that returns the reason why no ledger account can hold a currency, or "" if one can."""
    probing: Callable[[], Probing]
    """The steps and probes of `rampsim probe`."""
    test_values: Callable[[], Mapping[str, Mapping[str, str]]]
    """The test values, which select an outcome. The documentation and the agent tools use them."""
    flows: Callable[[], Mapping[str, Flow]]
    """The orders that the test kit's `world.flow` creates, by name."""
    rules: Path
    """The rules of the specification, in YAML."""
