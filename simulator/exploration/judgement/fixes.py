"""Advice for findings: the meaning of each verdict and fault class, and the usual fix."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import NamedTuple

from simulator.engine.text.json import loads


class Advice(NamedTuple):
    """Advice for a fault class: what happens, the usual fix, and the clause that supports the advice."""

    means: str
    mend: str
    clause: str


_READ = loads(files(__package__).joinpath("fixes.json").read_bytes())
VERDICTS: Mapping[str, str] = _READ["verdicts"]
"""The meaning of each verdict, in one sentence."""
ADVICE: Mapping[str, Advice] = {name: Advice(*texts) for name, texts in _READ["classes"].items()}
"""Advice for each fault class. `none` is for defects that occur without a fault."""
