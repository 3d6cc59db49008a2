"""What to do about a finding: what each verdict and each class of faults means, and how it is usually mended."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import NamedTuple

from simulator.engine.text.json import loads


class Advice(NamedTuple):
    """Of a class of faults: what happens, what an integrator usually does about it, and the clause that says so."""

    means: str
    mend: str
    clause: str


_READ = loads(files(__package__).joinpath("fixes.json").read_bytes())
VERDICTS: Mapping[str, str] = _READ["verdicts"]
"""What each verdict says, in a sentence."""
ADVICE: Mapping[str, Advice] = {name: Advice(*texts) for name, texts in _READ["classes"].items()}
"""By the names of the classes, and `none` for what is wrong without any fault."""
