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


def advice_of(fault: str) -> Advice:
    """Return the advice for a run's fault, which may be two faults joined by `+`."""
    parts = [ADVICE[name] for name in fault.split("+")]
    return Advice(*(" ".join(dict.fromkeys(texts)) for texts in zip(*parts, strict=True)))
