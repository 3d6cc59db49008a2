"""Improbable scenarios: generated from the grammar, changed copies of the shipped files, and YAML that is hard to
parse.
"""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

import orjson

from simulator.engine.scenario.files.shipped import shipped_directory
from simulator.host import vocabulary
from tests.campaigns.hostile.actor import ID_ACTIONS, WORLD_ACTIONS
from tests.campaigns.hostile.mutations import TEXTS, mutated, mutated_bytes

DURATIONS: tuple[Any, ...] = (
    "1ms", "5s", "20s", "45s", "2m", "1h", "1d", "0s", 0, 1.5, {"between": ["1s", "60s"]}, {"between": ["0s", "0s"]},
)  # fmt: skip
FAR: tuple[Any, ...] = (
    "2932531d",
    "2932000d",
    {"between": ["1s", "2932531d"]},
    "900000d",
    "-1s",
    "",
    "P1M",
    1e300,
    "9" * 40 + "d",
    None,
)
PATTERNS = (
    "^(a+)+$",
    "(a|aa)+$",
    "(.*)*x",
    "a{99999999999}",
    "(?P<name>.+)",
    "(",
    "^simulator:(?P<name>.+)$",
    "\\d{3}$",
    "(?:x{0,60}){0,60}",
)
WHERE: tuple[dict[str, Any], ...] = (
    {}, {}, {"type": "onramp"}, {"type": ["buy", "send"]}, {"status": "pending"},
    {"fiat_currency": {"starts_with": "K"}},
    {"amount": {"gt": 5}}, {"amount": {"lt": "1e400"}}, {"id": {"exists": True}}, {"network": {"exists": False}},
    {"a.b.c": None},
    {"request.reference": {"ends_with": "x"}}, {"beneficiary.name": {"exists": True}}, {"type": {"gte": [1]}}, {"": ""},
)  # fmt: skip


def action(rng: Random) -> dict[str, Any]:
    name, parameters = rng.choice(WORLD_ACTIONS if rng.random() < 0.4 else ID_ACTIONS)
    return {"action": name, **parameters}


def step(rng: Random, far: float = 0.06) -> dict[str, Any]:
    if rng.random() < 0.06:
        return {"scenario": rng.choice(("autopilot", "nothing", "s1", "${name}"))}
    found = action(rng)
    if rng.random() < 0.85:
        found["after"] = rng.choice(FAR if rng.random() < far else DURATIONS)
    if rng.random() < 0.08:
        found["target"] = rng.choice(("tx_none", "${id}", "", "a" * 300))
    if rng.random() < 0.05:
        found["environment"] = rng.choice(("sandbox", "production", "moon"))
    return found


def rule(rng: Random) -> dict[str, Any]:
    on: Any = rng.choice([*vocabulary().events, "created", "created", "request", "network.status_changed"])
    found: dict[str, Any] = {"on": on if rng.random() < 0.85 else [on, rng.choice(list(vocabulary().events))]}
    where = dict(rng.choice(WHERE))
    if rng.random() < 0.08:
        where["request.reference"] = {"matches": rng.choice(PATTERNS)}
    if where:
        found["where"] = where
    if rng.random() < 0.2:
        found["times"] = rng.choice((1, 2, 5, 0, 10**18))
    if rng.random() < 0.1:
        found["probability"] = rng.choice((0, 0.5, 1, 1.5, "x"))
    if on == "request":
        found["answer"] = {
            "status": rng.choice((422, 503, 400, 500, 418, 299)),
            "code": rng.choice(("payment_failed", "internal_error", "nope")),
        }
    else:
        found["do"] = [step(rng) for _ in range(rng.randrange(4))]
    return found


def scenario_document(rng: Random, name: str) -> dict[str, Any]:
    """A scenario that mostly fits the grammar."""
    found: dict[str, Any] = {"name": name, "description": rng.choice(("", "Anything goes.", "é" * 50))}
    if rng.random() < 0.9:
        found["rules"] = [rule(rng) for _ in range(rng.randrange(1, 5))]
    if rng.random() < 0.4:
        spans = [rng.choice(FAR if rng.random() < 0.06 else DURATIONS) for _ in range(rng.randrange(1, 4))]
        found["timeline"] = [{"at": span, **action(rng)} for span in spans]
    if rng.random() < 0.25:
        found["faults"] = [rng.choice((
            {"match": {"method": "POST", "path": "/quotes"}, "times": 2, "respond": {"status": 503,
            "code": "service_unavailable"}},
            {"match": {"path": "/wallet/*"}, "times": 1, "drop": True}, {"webhook": {}, "deliver": {"copies": 2},
            "times": 1},
            {"match": {}, "times": 1, "respond": {"status": 299, "code": "x"}},
        ))]  # fmt: skip
    if rng.random() < 0.3:
        found["world"] = rng.choice((
            {"rates": [{"asset": "USDC", "fiat_currency": "KES", "rate": "129.40"}]}, {"kyc": {"status": "rejected"}},
            {"balances": [{"symbol": "USDC", "network": "STELLAR", "amount": "250"}]}, {"limits": {"daily": "5"}},
            {"networks": [{"network": "celo", "status": "down"}]},
        ))  # fmt: skip
    if rng.random() < 0.2:
        found["drive"] = rng.choice(
            ([{"advance": "10m"}], [{"action": {"a": 1}}], [{"post": "/quotes", "body": {}}], [{"get": "/rates"}])
        )
    if rng.random() < 0.1:
        found["expect"] = rng.choice(
            ([{"event": "transaction.failed"}], [{"webhooks": "delivered"}], [{"resource": "x"}])
        )
    if rng.random() < 0.1:
        found["slowdown"] = rng.choice(({"degraded": 5}, {"down": 1e-9}, {"degraded": 0}, {"operational": 1000}))
    if rng.random() < 0.05:
        found["with"] = rng.choice((["autopilot"], [name], ["nothing"]))
    return found


def self_answering(rng: Random, name: str) -> dict[str, Any]:
    """Rules that set each other off without any time between."""
    networks = [
        {"action": "set_network", "network": rng.choice(("celo", "stellar")), "status": status}
        for status in ("down", "operational")
    ]
    rules: list[dict[str, Any]]
    if rng.random() < 0.5:
        rules = [
            {"on": "network.status_changed", "where": {"status": "operational"}, "do": [networks[0]]},
            {"on": "network.status_changed", "where": {"status": "down"}, "do": [networks[1]]},
        ]
    else:
        kind = rng.choice(("kyc.approved", "transaction.completed", "quote.expired"))
        rules = [{"on": kind, "do": [{"action": "emit", "type": kind}] * rng.choice((1, 2))}]
    if rng.random() < 0.3:
        rules[0]["do"][0]["after"] = rng.choice(("0s", "1ms"))
    return {"name": name, "rules": rules, "timeline": [{"at": "1s", **networks[0]}]}


@cache
def shipped() -> tuple[bytes, ...]:
    return tuple(path.read_bytes() for path in sorted(shipped_directory().iterdir()) if path.suffix == ".yaml")


def pathological(rng: Random, name: str) -> bytes:
    """Texts that are hard to read."""
    head = f"name: {name}\n".encode()
    size = rng.choice((50, 500, 2000, 20_000))
    big = rng.choice((2**63, 2**64, 10**30, -(10**40)))
    return rng.choice((
        b"[" * size, b"{" * size, b"- " * size, head + b"rules: " + b"[" * size + b"]" * size,
        head + b"description: " + b"x" * rng.choice((1000, 60_000, 250_000, 300_000)),
        head + b"a: &a [x,x,x,x,x,x,x]\n" + b"".join(b"%c: &%c [" % (c,
        c) + b"*%c," % (c - 1) * 9 + b"]\n" for c in b"bcdefgh"),
        head + b"rules: &r [*r]\n", head + b"<<: *x\n", head + b"world: !!python/object/apply:os.system [id]\n",
        head + "".join(f"unknown{i}: {i}\n" for i in range(rng.choice((50, 500, 5000)))).encode(),
        head + b"rules:\n" + b"".join(b"  - {on: kyc.approved, do: []}\n" for _ in range(rng.choice((10, 500, 3000)))),
        head + f"timeline: [{{at: 1s, action: emit, type: kyc.approved, object: {{x: {big}}}}}]".encode(),
        head + f"rules: [{{on: kyc.approved, times: {big}, do: []}}]".encode(),
        head + f"timeline: [{{at: {rng.choice(FAR)}, action: set_network, network: celo, status: down}}]".encode(),
        head + b"drive: [{action: {a: 1}}]", head + b"%YAML 9.9\n---\n", head + b"---\n" + head, b"\xff\xfe" + head,
        head + b"\x00",
        head + b"description: |\n" + b"  line\n" * size, head + b"? {a: b}\n: c\n", head + b"description: 2026-02-30\n",
        b"", b"~", b"[]", b"1",
        head + b"description: \"\\ud800\"\n", head + "description: \u2028\u0085\n".encode(), b"\t" + head,
        head.replace(b"\n", b"\r"),
        head + b"rules: [{on: created, where: {a: {matches: '" + rng.choice(PATTERNS).encode() + b"'}}, do: []}]",
        head + b"rules: [{on: " + b"k" * size + b", do: []}]",
    ))  # fmt: skip


def scenario_text(rng: Random, name: str) -> bytes:
    """One upload: grammatical, mutated, self-answering or pathological."""
    way = rng.random()
    if way < 0.38:
        return orjson.dumps(scenario_document(rng, name), option=orjson.OPT_INDENT_2)
    if way < 0.5:
        from tests.campaigns.hostile.mutations import dumps

        return dumps(
            mutated(rng, scenario_document(rng, name), rng.choice((1, 1, 2, 4)), (rng.choice(FAR), rng.choice(TEXTS)))
        )
    if way < 0.55:
        return orjson.dumps(self_answering(rng, name))
    if way < 0.63:
        return rng.choice(shipped())
    if way < 0.88:
        text = rng.choice(shipped())
        for _ in range(rng.choice((1, 1, 2, 3, 8))):
            text = _mutated_lines(rng, text) if rng.random() < 0.6 else mutated_bytes(rng, text)
        return text
    return pathological(rng, name)


def _mutated_lines(rng: Random, text: bytes) -> bytes:
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    way = rng.randrange(5)
    if way == 0:
        del lines[at]
    elif way == 1:
        lines.insert(at, lines[other])
    elif way == 2:
        lines[at] = lines[at].replace(b"  ", b" ", 1) if rng.random() < 0.5 else b"  " + lines[at]
    elif way == 3:
        name, colon, _ = lines[at].partition(b":")
        odd = rng.choice((*DURATIONS, *FAR, *TEXTS[:40]))
        lines[at] = name + colon + b" " + orjson.dumps(odd if not isinstance(odd, dict) else "x") + b"\n"
    else:
        lines[at], lines[other] = lines[other], lines[at]
    return b"".join(lines)
