"""Assumptions that a world can replace with an alternative, loaded from `alternatives.json`."""

from __future__ import annotations

from pathlib import Path

from simulator.engine.text.json import loads
from simulator.engine.worlds.alternatives import Switch, Switches

ALTERNATIVES: Switches = {row["id"]: Switch(**row) for row in loads(Path(__file__).with_suffix(".json").read_bytes())}
