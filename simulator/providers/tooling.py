"""What tools take from a provider, beside the row that the engine reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulator.kernel.dataclass import dataclass

if TYPE_CHECKING:
    from simulator.certification.service import Examined
    from simulator.conformance.laws import RequestHooks, Rulebook
    from simulator.engine.control.operation import ControlOperation
    from simulator.engine.worlds.alternatives import Alternatives
    from simulator.evidence.provided import Probing
    from simulator.exploration.arming import FaultClass


@dataclass(frozen=True)
class Samples:
    """What request data look like that the service can accept, as far as no schema says it."""

    amounts: Mapping[str, tuple[str, str, int]]
    """By currency the least and the greatest amount inside the limits of every product, and the decimals."""
    currency_of: Callable[[Mapping[str, Any]], str | None]
    """The currency that the amount of a request body is in; None where it does not say."""
    addresses: Mapping[str, tuple[int, Callable[[bytes], str]]]
    """By network how many bytes an address stands for, and the function that writes them as one."""
    address_names: tuple[str, ...]
    """The members that hold an address."""
    phones: Mapping[str, str]
    """By country the pattern of its mobile numbers, in international format."""
    phone_samples: Mapping[str, str]
    """By country one number."""
    is_ordinary_phone: Callable[[str, str], bool]
    """Whether a text is a number of a country, and none by which test values choose an outcome."""
    zones: tuple[str, ...]
    """Time zones."""


@dataclass(frozen=True)
class Compared:
    """Members of answers that `rampsim compare` treats in their own way."""

    states: tuple[str, ...]
    """Members that say how things stand."""
    drawn: tuple[str, ...]
    """Members whose values every service draws anew."""
    spans: tuple[tuple[str, str], ...]
    """Pairs of moments whose distance counts."""


@dataclass(frozen=True)
class Tooling:
    """All that tools get to know of a simulated service. A member that loads slow modules is a function."""

    alternatives: Alternatives
    """The assumptions that worlds can switch."""
    control_rows: Callable[[], Sequence[ControlOperation]]
    """Calls of the control interface that only this service has."""
    rulebook: Callable[[], Rulebook]
    """What `rampsim conform` judges by."""
    request_hooks: Callable[[], RequestHooks]
    """What `rampsim conform` has schemathesis do with its requests."""
    faults: Callable[[], tuple[FaultClass, ...]]
    """The classes of faults that know its money, for `rampsim explore`."""
    examined: Callable[[], Examined]
    """What `rampsim certify` plays to receivers."""
    compared: Callable[[], Compared]
    """How `rampsim compare` reads answers."""
    samples: Callable[[], Samples]
    """What the strategies of the kit are made of."""
    why_no_account: Callable[[str], str]
    """Why no account can hold a currency of the books, in words; "" where one can."""
    probing: Callable[[], Probing]
    """The steps and probes of `rampsim probe`."""
    test_values: Callable[[], Mapping[str, Mapping[str, str]]]
    """Request data that choose an outcome, as the documentation and the tools of agents tell them."""
    rules: Path
    """The rules of the specification, in YAML."""
