"""The settings of a run, and the schemathesis configuration derived from them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Any, Literal

from simulator.kernel.dataclass import dataclass

Mode = Literal["read-only", "full"]
Part = Literal["behaviour", "shapes", "control"]
"""The parts of a run: behaviour rules, schemathesis with the API contract, and schemathesis with the control API's
contract.
"""

PUBLIC_KEY = "RAMPSIM_PUBLIC_KEY"
SECRET_KEY = "RAMPSIM_SECRET_KEY"
WEBHOOK_URL = "RAMPSIM_WEBHOOK_URL"
"""Environment variables that pass values to the schemathesis hooks."""
_PARTS = ("status_code", "content_type", "response_headers", "response_schema")
JUDGED_HERE = tuple(f"{part}_conformance" for part in _PARTS)
"""schemathesis checks that `shapes` replaces, because `shapes` reports each fault's path and provenance."""

PHASES = ("examples", "coverage", "fuzzing", "stateful")


@dataclass(frozen=True)
class ConformanceSettings:
    """The settings of a conformance run."""

    base_url: str
    """The base URL of the service under test, which ends with /v1."""
    public_key: str
    secret_key: str
    mode: Mode
    seed: int = 1
    max_examples: int = 20
    rate_limit: str = "auto"
    phases: tuple[str, ...] = PHASES
    operations: tuple[str, ...] = ()
    """The operationIds to check, or empty for all."""
    webhook_url: str | None = None
    only: Part | None = None
    strict: bool = False
    """Whether a wrong guess fails the run."""
    control_url: str | None = None
    """The origin of the target's control API, if this run may use it."""
    control_token: str | None = None
    own: bool = False
    """Whether the run started the simulator under test."""

    @property
    def plays_laws(self) -> bool:
        """True if the run checks behaviour rules. A run limited to some operations or phases runs only schemathesis."""
        return self.only in (None, "behaviour") and not self.narrowed

    @property
    def fuzzes(self) -> bool:
        return self.only in (None, "shapes")

    @property
    def judges_control(self) -> bool:
        """True if the run checks the control API, which only the simulator has."""
        return self.own and self.only in (None, "control") and not self.narrowed

    @property
    def narrowed(self) -> bool:
        return bool(self.operations) or self.phases != PHASES


def compose(shipped: str, settings: ConformanceSettings) -> str:
    """Return the included schemathesis.toml with the changes for this run."""
    document = tomllib.loads(shipped)
    document["seed"] = settings.seed
    document["rate-limit"] = settings.rate_limit
    document["generation"]["max-examples"] = settings.max_examples
    for name in JUDGED_HERE:
        document.setdefault("checks", {})[name] = {"enabled": False}
    if settings.mode == "read-only":
        # Without this, the coverage phase tries unknown methods on each path, including methods that write.
        document.setdefault("phases", {}).setdefault("coverage", {})["unexpected-methods"] = []
        document.setdefault("checks", {})["unsupported_method"] = {"enabled": False}
    return "".join(f"{json.dumps(name)} = {_inline(value)}\n" for name, value in document.items())


def _inline(value: Any) -> str:
    """Return a value as a TOML string, in which all tables are inline."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(name)} = {_inline(member)}" for name, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_inline(item) for item in value) + "]"
    return json.dumps(value)
