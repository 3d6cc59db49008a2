"""Clients generated once for all tests of a run: from the contract, and from broken copies."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, NamedTuple, TypeAlias

import orjson

from tests.tools.judges import tools
from tests.tools.judges.generators import GENERATORS, Generator, make, prepare, together

Spoil: TypeAlias = Callable[[dict[str, Any]], None]


def as_it_is(document: dict[str, Any]) -> None:
    """Nothing is broken."""


def another_field(document: dict[str, Any]) -> None:
    """The token answer carries its token in another field."""
    schema = document["components"]["schemas"]["TokenResponse"]
    schema["properties"]["token"] = schema["properties"].pop("access_token")
    schema["required"] = ["token" if name == "access_token" else name for name in schema["required"]]


class Made(NamedTuple):
    """A directory with a client and its integration, and what the generator said."""

    directory: Path
    done: CompletedProcess[str]


class Workshop:
    """Makes each client when it is first asked for; openapi-generator starts once for all of its own."""

    def __init__(self, directory: Path, document: dict[str, Any]) -> None:
        self._directory = directory
        self._document = document
        self._made: dict[tuple[str, str], Made] = {}

    def client(self, generator: Generator, spoil: Spoil = as_it_is) -> Made:
        wanted = generator.name, spoil.__name__
        if wanted not in self._made and generator.generate is None:
            self._make_together()
        if wanted not in self._made:
            directory = self._place(generator, spoil)
            self._made[wanted] = Made(directory, make(generator, self._contract(spoil), directory))
        return self._made[wanted]

    def _make_together(self) -> None:
        asked = {
            (one.name, spoil.__name__): (one, self._contract(spoil), self._place(one, spoil))
            for one in GENERATORS
            if one.generate is None and not one.lacks()
            for spoil in (as_it_is, another_field)
        }
        for generator, _, directory in asked.values():
            prepare(generator, directory)
        rows = [(one, contract, directory / one.client) for one, contract, directory in asked.values()]
        done = tools.run(*together(rows))
        self._made |= {name: Made(directory, done) for name, (_, _, directory) in asked.items()}

    def _place(self, generator: Generator, spoil: Spoil) -> Path:
        return self._directory / spoil.__name__ / generator.flow

    def _contract(self, spoil: Spoil) -> Path:
        if spoil is as_it_is:
            return tools.CONTRACTS / "openapi.yaml"
        path = self._directory / f"{spoil.__name__}.json"
        if not path.exists():
            spoilt = copy.deepcopy(self._document)
            spoil(spoilt)
            path.write_bytes(orjson.dumps(spoilt))
        return path
