"""The corpus: sanitised recordings of calls and webhooks."""

from __future__ import annotations

from simulator.evidence.corpus.exchange import Exchange, Traffic
from simulator.evidence.corpus.pseudonyms import Pseudonyms
from simulator.evidence.corpus.reading import BadCorpus, Corpus, Damaged, Recording, read_corpus, read_line
from simulator.evidence.corpus.sanitising import sanitise

__all__ = [
    "BadCorpus", "Corpus", "Damaged", "Exchange", "Pseudonyms", "Recording", "Traffic", "read_corpus",
    "read_line", "sanitise",
]  # fmt: skip
