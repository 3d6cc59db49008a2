"""No planted secret reaches a recording, and a sanitiser that leaks one field is found."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from simulator.contract.files import operation_ids
from simulator.evidence.capture.messages import Head
from simulator.evidence.corpus import sanitising
from simulator.evidence.corpus.reading import read_corpus
from tests.tools.evidence.planting import Call, Planter, calls, found, webhooks
from tests.tools.evidence.relaying import relayed


def recorded(directory: Path) -> tuple[list[str], str]:
    """Record all operations and events with secrets; return the secrets and the content of the file."""
    planter = Planter()
    sent: list[Call] = []

    async def answer(_: Head, body: bytes, writer: asyncio.StreamWriter) -> None:
        assert body == sent[-1].body, "the service gets the secrets"
        writer.write(sent[-1].response())

    async def scene() -> None:
        async with relayed(directory, answer, inbox=True) as relay:
            reader, writer = await asyncio.open_connection("127.0.0.1", relay.port)
            for call in calls(planter):
                sent.append(call)
                writer.write(call.request())
                response = call.response()
                assert await reader.readexactly(len(response)) == response
            for message in webhooks(planter):
                writer.write(message)
                await reader.readuntil(b"\r\n\r\n")
            writer.close()
            await writer.wait_closed()

    asyncio.run(scene())
    return planter.secrets, (directory / "test.jsonl").read_text("utf-8")


def test_no_planted_secret_is_recorded(tmp_path: Path) -> None:
    secrets, content = recorded(tmp_path)
    assert len(set(secrets)) >= 500
    assert found(secrets, content) == []
    assert found(secrets, unquote(content)) == []
    corpus = read_corpus(tmp_path)
    assert {one.operation for one in corpus.exchanges} >= set(operation_ids().values())
    assert not corpus.damaged


def _leaks_value(name: str, value: str, pseudonyms: Any) -> str:
    return value if name == "memo" else _text(name, value, pseudonyms)


def _leaks_name(name: str, pseudonyms: Any) -> str:
    return name


def _leaks_number(name: str, value: Any, pseudonyms: Any) -> Any:
    return value


def _leaks_path(method: str, path: str, pseudonyms: Any) -> str:
    return path


def _leaks_query(query: str, pseudonyms: Any) -> dict[str, str]:
    return {"query": query}


def _leaks_headers(headers: Any, pseudonyms: Any) -> dict[str, str]:
    return {name: value for name, value in headers if name == "X-Trace"}


_text = sanitising._text


@pytest.mark.parametrize(
    ("function", "mutant"),
    [("_text", _leaks_value), ("_member", _leaks_name), ("_number", _leaks_number), ("_path", _leaks_path),
     ("_query", _leaks_query), ("_headers", _leaks_headers),
     ("_header", lambda given: (given.lower(), re.compile(".*"))),
     ("_is_name", lambda text: True)],
)  # fmt: skip
def test_a_sanitiser_that_leaks_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str, mutant: Callable[..., Any]
) -> None:
    monkeypatch.setattr(sanitising, function, mutant)
    secrets, content = recorded(tmp_path)
    assert found(secrets, unquote(content)) != []
