"""The settings of a run, and the schemathesis configuration made from them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Any, Literal

from simulator.kernel.dataclass import dataclass

Mode = Literal["read-only", "full"]
Part = Literal["behaviour", "shapes", "control"]
"""The parts of a run: laws, schemathesis with the contract, schemathesis with the control interface's contract."""

PUBLIC_KEY = "RAMPSIM_PUBLIC_KEY"
SECRET_KEY = "RAMPSIM_SECRET_KEY"
WEBHOOK_URL = "RAMPSIM_WEBHOOK_URL"
"""Environment variables that pass values to the hooks."""
JUDGED_HERE = (
    "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance",
)  # fmt: skip
"""Checks of schemathesis that `shapes` replaces, because it reports place and provenance of each fault."""

PHASES = ("examples", "coverage", "fuzzing", "stateful")


@dataclass(frozen=True)
class ConformanceSettings:
    """The settings of a run."""

    base_url: str
    """Ends with /v1."""
    public_key: str
    secret_key: str
    mode: Mode
    seed: int = 1
    max_examples: int = 20
    rate_limit: str = "auto"
    phases: tuple[str, ...] = PHASES
    operations: tuple[str, ...] = ()
    """operationIds; empty for all."""
    webhook_url: str | None = None
    only: Part | None = None
    strict: bool = False
    """Whether a differing guess fails the run."""
    control_url: str | None = None
    """Origin of the target's control interface, if this run may use it."""
    control_token: str | None = None
    own: bool = False
    """Whether the run started the simulator under test."""

    @property
    def plays_laws(self) -> bool:
        """Whether laws are played. A run of some operations or phases is for schemathesis only."""
        return self.only in (None, "behaviour") and not self.narrowed

    @property
    def fuzzes(self) -> bool:
        return self.only in (None, "shapes")

    @property
    def judges_control(self) -> bool:
        """Whether the control interface is judged. It belongs to the simulator, so a target is not judged by it."""
        return self.own and self.only in (None, "control") and not self.narrowed

    @property
    def narrowed(self) -> bool:
        return bool(self.operations) or self.phases != PHASES


def compose(shipped: str, settings: ConformanceSettings) -> str:
    """Return the shipped schemathesis.toml, changed for this run."""
    document = tomllib.loads(shipped)
    document["seed"] = settings.seed
    document["rate-limit"] = settings.rate_limit
    document["generation"]["max-examples"] = settings.max_examples
    for name in JUDGED_HERE:
        document.setdefault("checks", {})[name] = {"enabled": False}
    if settings.mode == "read-only":
        # Without this, the coverage phase tries unknown methods of each path, including ones that write.
        document.setdefault("phases", {}).setdefault("coverage", {})["unexpected-methods"] = []
        document.setdefault("checks", {})["unsupported_method"] = {"enabled": False}
    return "".join(f"{json.dumps(name)} = {_inline(value)}\n" for name, value in document.items())


def _inline(value: Any) -> str:
    """Return a value as TOML with inline tables."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(name)} = {_inline(member)}" for name, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_inline(item) for item in value) + "]"
    return json.dumps(value)
