"""The row that tools read about a provider, next to the row that the engine reads."""

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


@dataclass(frozen=True)
class Samples:
    """Request data that a service accepts, as far as no schema describes it."""

    amounts: Mapping[str, tuple[str, str, int]]
    """By currency: the smallest and largest amount inside the limits of all products, and the decimals."""
    currency_of: Callable[[Mapping[str, Any]], str | None]
    """Returns the currency of the amount in a request body, or None if the body does not name one."""
    addresses: Mapping[str, tuple[int, Callable[[bytes], str]]]
    """By network: the number of bytes behind an address, and the function that encodes them."""
    address_names: tuple[str, ...]
    """The fields that hold an address."""
    phones: Mapping[str, str]
    """By country: the pattern of its mobile numbers, in international format."""
    phone_samples: Mapping[str, str]
    """By country: one valid number."""
    is_ordinary_phone: Callable[[str, str], bool]
    """Returns whether a string is a number of a country that chooses no outcome as a test value."""
    zones: tuple[str, ...]
    """Time zones."""


@dataclass(frozen=True)
class Compared:
    """Response fields that `rampsim compare` treats in a special way."""

    states: tuple[str, ...]
    """Fields with a status."""
    drawn: tuple[str, ...]
    """Fields with random values, which differ between services."""
    spans: tuple[tuple[str, str], ...]
    """Pairs of timestamps of which only the distance is compared."""


@dataclass(frozen=True)
class Tooling:
    """Everything that tools read about a simulated service. A field that loads slow modules is a function."""

    alternatives: Alternatives
    """The assumptions that a world can switch."""
    control_rows: Callable[[], Sequence[ControlOperation]]
    """Control calls that only this service has."""
    rulebook: Callable[[], Rulebook]
    """The rules that `rampsim conform` checks."""
    request_hooks: Callable[[], RequestHooks]
    """The changes that `rampsim conform` makes to generated requests."""
    faults: Callable[[], tuple[FaultClass, ...]]
    """The fault classes about money, for `rampsim explore`."""
    playbook: Callable[[], Playbook]
    """The orders that `rampsim certify` plays to receivers."""
    compared: Callable[[], Compared]
    """The special fields of responses, for `rampsim compare`."""
    samples: Callable[[], Samples]
    """The data behind the test kit's strategies."""
    why_no_account: Callable[[str], str]
    """Returns why no ledger account can hold a currency, or "" if one can."""
    probing: Callable[[], Probing]
    """The steps and probes of `rampsim probe`."""
    test_values: Callable[[], Mapping[str, Mapping[str, str]]]
    """Request data that choose an outcome, for the documentation and the tools of agents."""
    rules: Path
    """The rules of the specification, in YAML."""
