"""The configuration of one run: the shipped schemathesis.toml, with what this run asks for put in its place."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Any, Literal

from simulator.kernel.dataclass import dataclass

Mode = Literal["read-only", "full"]
Part = Literal["behaviour", "shapes", "control"]
"""The parts of a run: laws that are played, schemathesis with the contract, and with that of the control interface."""

PUBLIC_KEY = "RAMPSIM_PUBLIC_KEY"
SECRET_KEY = "RAMPSIM_SECRET_KEY"
WEBHOOK_URL = "RAMPSIM_WEBHOOK_URL"
"""The variables by which a run tells the hooks what to use."""
JUDGED_HERE = (
    "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance",
)  # fmt: skip
"""The checks of schemathesis that `shapes` makes itself, with the place and the provenance of each fault."""

PHASES = ("examples", "coverage", "fuzzing", "stateful")


@dataclass(frozen=True)
class ConformanceSettings:
    """What one run is to do. `base_url` ends with /v1; `operations` are operationIds, none for all."""

    base_url: str
    public_key: str
    secret_key: str
    mode: Mode
    seed: int = 1
    max_examples: int = 20
    rate_limit: str = "auto"
    phases: tuple[str, ...] = PHASES
    operations: tuple[str, ...] = ()
    webhook_url: str | None = None
    only: Part | None = None
    strict: bool = False
    """A guess that differs fails the run too."""
    control_url: str | None = None
    """Where the control interface of the target is, if this run may use it."""
    control_token: str | None = None
    own: bool = False
    """Whether the simulator under test is one that the run has started."""

    @property
    def plays_laws(self) -> bool:
        """A run that is narrowed to operations or phases is one of schemathesis alone."""
        return self.only in (None, "behaviour") and not self.narrowed

    @property
    def fuzzes(self) -> bool:
        return self.only in (None, "shapes")

    @property
    def judges_control(self) -> bool:
        """The control interface is this project's own, so only a run against its own simulator judges it."""
        return self.own and self.only in (None, "control") and not self.narrowed

    @property
    def narrowed(self) -> bool:
        return bool(self.operations) or self.phases != PHASES


def compose(shipped: str, settings: ConformanceSettings) -> str:
    """The text of a configuration file: the shipped one as this run needs it."""
    document = tomllib.loads(shipped)
    document["seed"] = settings.seed
    document["rate-limit"] = settings.rate_limit
    document["generation"]["max-examples"] = settings.max_examples
    for name in JUDGED_HERE:
        document.setdefault("checks", {})[name] = {"enabled": False}
    if settings.mode == "read-only":
        # Without this, the coverage phase tries the methods that a path does not know, writing ones among them.
        document.setdefault("phases", {}).setdefault("coverage", {})["unexpected-methods"] = []
        document.setdefault("checks", {})["unsupported_method"] = {"enabled": False}
    return "".join(f"{json.dumps(name)} = {_inline(value)}\n" for name, value in document.items())


def _inline(value: Any) -> str:
    """A value as TOML, tables inline."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(name)} = {_inline(member)}" for name, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_inline(item) for item in value) + "]"
    return json.dumps(value)
