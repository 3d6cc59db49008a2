"""The data about the ramp service that tools read. Each module is imported when a tool first needs it."""

from __future__ import annotations

from pathlib import Path

from simulator.providers.ramp import alternatives, control, docs, faults, laws, playbook, probing, samples
from simulator.providers.ramp.triggers import flows
from simulator.providers.tooling import Tooling

TOOLING = Tooling(
    alternatives=lambda: alternatives.ALTERNATIVES,
    control_rows=lambda: control.operation.rows,
    rulebook=lambda: laws.RULEBOOK,
    request_hooks=lambda: laws.REQUEST_HOOKS,
    faults=lambda: faults.FAULTS,
    pairs=lambda: faults.PAIRS,
    playbook=lambda: playbook.PLAYBOOK,
    compared=lambda: samples.COMPARED,
    samples=lambda: samples.SAMPLES,
    why_no_account=lambda currency: samples.why_no_account(currency),
    probing=lambda: probing.PROBING,
    flows=lambda: flows.FLOWS,
    test_values=lambda: docs.TEST_VALUES,
    rules=Path(__file__).parent / "docs" / "rules.yaml",
)
