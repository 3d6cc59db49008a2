"""Make the same mixed calls on two commits and compare every response byte for byte.

    python -m tests.campaigns.replay --since main~5                    # 60,000 calls on that commit and on this tree
    python -m tests.campaigns.replay --since main~5 --calls 2000 --seed 7
    python -m tests.campaigns.replay --since main~5 --ignore-texts     # messages and descriptions may differ

The calls are chosen from a seed and from earlier responses: valid and damaged bodies for all operations, control
actions, advances of the clock, snapshots, faults, and lists of the results. Each call goes to both servers in turn, so
the run stops at the first difference and shows it. Tokens, durations, signatures and ports are not compared.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from tests.campaigns.benchmarks.servers import KEYS, Subject
from tests.campaigns.benchmarks.suite import checked_out
from tests.places import ROOT

Json = dict[str, Any]
T = TypeVar("T")

ADDRESSES = {
    "CELO": "0x52908400098527886E0F7030069857D2E4169EE7",
    "STELLAR": "GBZXN7PIRZGNMHGA7MUUUF4GWPY5AYPV6LY4UV2GL6VJGIQRXFDNMADI",
    "BITCOIN": "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
}
ASSETS = [
    ("USDC", "STELLAR"),
    ("XLM", "STELLAR"),
    ("CELO", "CELO"),
    ("CUSD", "CELO"),
    ("USDC", "CELO"),
    ("BTC", "BITCOIN"),
]
FIATS = {"KES": "+254722000000", "TZS": "+255712345678", "NGN": "+2348031000222", "ZMW": "+260971234567"}
ACTIONS = [
    "payment_arrives",
    "payment_declined",
    "deposit_arrives",
    "deposit_confirms",
    "broadcast",
    "complete",
    "fail",
    "refund",
]
LISTS = ["/transactions", "/orders", "/beneficiaries", "/wallets", "/recurring-payments", "/fees", "/currencies"]
LISTS += ["/wallet/assets", "/webhooks", "/profile", "/profile/limits", "/profile/kyc", "/network/stats"]
SHOWN = ["requests", "events", "deliveries", "timers", "resources", "advice", "coverage", "emails", "ledger", "faults"]
SHOWN += ["scenarios", "settings", "clock", "actions", "rates", "assumptions"]
USUAL = {"KES": "5000", "TZS": "100000", "NGN": "60000", "ZAR": "700", "ZMW": "900", "XLM": "200", "BTC": "0.001"}
QUERIES = ["", "?size=3", "?page=2&limit=5", "?status=completed", "?search=order", "?sort_order=asc", "?sort_by=amount"]
QUERIES += ["?size=500", "?start_date=2026-01-05", "?network=celo", "?currency=KES&min_amount=10"]
READ = [("qt", "quotes"), ("txn", "transactions"), ("txn", "orders"), ("ben", "beneficiaries"), ("wal", "wallets")]
READ += [("rp", "recurring-payments")]
DESCRIPTIVE = tuple(f"/_simulator/{name}" for name in ("actions", "assumptions", "scenarios", "advice", "coverage"))
"""Lists that consist of texts. Only their status is compared if texts are ignored."""
_EXEMPT = [
    (re.compile(r'"(access_token|token)":\s?"[^"]*"'), r'"\1":"-"'),
    (
        re.compile(r'"(duration_ms|X-Signature|X-Timestamp|x-signature|x-timestamp|at_real)":\s?("[^"]*"|[0-9.]+)'),
        r'"\1":0',
    ),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:0"),
    (re.compile(r'"version":\s?"[^"]*"'), '"version":"-"'),
]
_TEXTS = re.compile(
    r'"(message|description|summary|title|why|advice|do|text|finding|detail|hint|means|reason_text|label|sentence)":\s?"(?:[^"\\]|\\.)*"'
)


class Call(NamedTuple):
    """One call: its method, its path with the base, and its JSON body."""

    method: str
    path: str
    body: object = None
    headers: Mapping[str, str] = {}


class Plan:
    """Draw calls from a seed and from the ids that earlier responses showed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.ids: dict[str, list[str]] = {}
        self.keys: list[str] = []
        self.snapshots: list[str] = []

    def saw(self, call: Call, response: Json) -> None:
        """Note the id of what a call created."""
        found = response.get("id")
        if isinstance(found, str):
            seen = self.ids.setdefault(found.partition("_")[0], [])
            seen.append(found)
            del seen[:-60]
        if call.path == "/_simulator/snapshots" and isinstance(found, str):
            self.snapshots = [*self.snapshots[-1:], found]

    def next(self) -> Call:
        """Return the next call."""
        kinds: list[tuple[int, Callable[[], Call]]] = [
            (18, self._quote), (16, self._confirm), (8, self._wallet_quote), (8, self._execute), (6, self._send),
            (5, self._beneficiary), (3, self._wallet), (3, self._lightning), (3, self._recurring), (3, self._schedule),
            (10, self._list), (10, self._read), (14, self._action), (6, self._advance), (5, self._show),
            (1, self._steer),
        ]  # fmt: skip
        weights, draws = zip(*kinds, strict=True)
        call: Call = self.chance.choices(draws, weights)[0]()
        if call.method == "POST" and call.path.startswith("/v1") and self.chance.random() < 0.2:
            if self.keys and self.chance.random() < 0.3:
                key = self.chance.choice(self.keys)
            else:
                key = f"key-{self.chance.randrange(10**9)}"
                self.keys = [*self.keys[-20:], key]
            call = call._replace(headers={"Idempotency-Key": key})
        if isinstance(call.body, dict) and self.chance.random() < 0.15:
            call = call._replace(body=self._damaged(call.body))
        return call

    def _one(self, *choices: T) -> T:
        return self.chance.choice(choices)

    def _id(self, *prefixes: str) -> str:
        known = [one for prefix in prefixes for one in self.ids.get(prefix, ())]
        return self.chance.choice(known) if known and self.chance.random() < 0.97 else f"{prefixes[0]}_unknown"

    def _amount(self) -> str:
        return str(self._one("20", "25.5", "0.001", "60", "1", "0", "999999999", "30.123456789"))

    def _amount_of(self, currency: str) -> str:
        """Return an amount that is mostly within the limits of a currency."""
        if self.chance.random() < 0.2:
            return self._amount()
        usual = {
            "KES": "5000",
            "TZS": "100000",
            "NGN": "60000",
            "ZAR": "700",
            "ZMW": "900",
            "XLM": "200",
            "BTC": "0.001",
        }
        return usual.get(currency, str(self.chance.randrange(20, 60)))

    def _damaged(self, body: Json) -> Json:
        damaged, name = dict(body), self.chance.choice(sorted(body) or [""])
        match self.chance.randrange(5):
            case 0:
                damaged.pop(name, None)
            case 1:
                damaged[name] = self._one(7, None, [], {}, "", True, "x" * 300)
            case 2:
                damaged["unexpected"] = 1
            case 3:
                damaged[name] = str(body.get(name)) + "?"
            case _:
                damaged[name] = {"deep": {"deeper": [1]}}
        return damaged

    def _quote(self) -> Call:
        fiat, (asset, network) = self._one(*FIATS, "ZAR"), self._one(*ASSETS[:-1])
        currency = self._one(fiat, asset)
        body = {"type": self._one("onramp", "offramp"), "network": network.lower(), "asset": asset}
        body |= {"fiat_currency": fiat, "amount": self._amount_of(currency), "amount_currency": currency}
        return Call(
            "POST", "/v1/quotes", {**body, "method": self._one("mobile_money", "mobile_money", "bank_transfer")}
        )

    def _confirm(self) -> Call:
        phone = self._one(*FIATS.values(), "+254722000001")
        body: Json = {"wallet_address": ADDRESSES[self._one("CELO", "STELLAR")], "payer": {"phone_number": phone}}
        if self.chance.random() < 0.5:
            body = {"beneficiary_id": self._id("ben"), "refund_address": ADDRESSES[self._one("CELO", "STELLAR")]}
        return Call(
            "POST", f"/v1/quotes/{self._id('qt')}/confirm", {**body, "reference": f"order-{self.chance.randrange(500)}"}
        )

    def _wallet_quote(self) -> Call:
        (symbol, network), (other, there), fiat = self._one(*ASSETS), self._one(*ASSETS), self._one(*FIATS)
        kind = self._one("swap", "buy", "withdraw")
        body: Json = {"symbol": symbol, "network": network, "fiat_currency": fiat}
        if kind == "swap":
            sides = {"from": {"symbol": symbol, "network": network}, "to": {"symbol": other, "network": there}}
            body = {**sides, "amount": self._amount_of(symbol), "amount_side": self._one("from", "from", "to")}
        elif kind == "buy":
            body |= {"amount": self._amount_of(fiat), "amount_currency": "fiat", "method": "mobile_money"}
        else:
            body |= {"symbol": self._one("USDC", "CUSD"), "network": "CELO", "fiat_currency": self._one("KES", fiat)}
            body |= {
                "amount": self._amount_of("USDC"),
                "amount_currency": body["symbol"],
                "beneficiary_id": self._id("ben"),
            }
        return Call("POST", f"/v1/wallet/{kind}/quote", body)

    def _execute(self) -> Call:
        kind, prefix = self._one(("swap", "sq"), ("buy", "bq"), ("withdraw", "wq"))
        body = {"quote_id": self._id(prefix), "reference": f"order-{self.chance.randrange(500)}"}
        return Call(
            "POST",
            f"/v1/wallet/{kind}",
            {**body, "payer": {"phone_number": "+254722000000"}} if kind == "buy" else body,
        )

    def _send(self) -> Call:
        symbol, network = self._one(*ASSETS)
        to = self._one(
            {"type": "address", "address": ADDRESSES[network]},
            {"type": "platform_user", "email": self._one("amina@example.test", "nobody@example.test")},
            {"type": "lightning", "lightning_address": "till@ln.example"},
        )
        body = {"symbol": symbol, "network": network, "amount": self._amount_of(symbol), "destination": to}
        return Call("POST", self._one("/v1/wallet/send", "/v1/wallet/send", "/v1/wallet/send/estimate"), body)

    def _beneficiary(self) -> Call:
        if self.chance.random() < 0.1:
            return Call("DELETE", f"/v1/beneficiaries/{self._id('ben')}")
        fiat, phone = self._one(*FIATS.items())
        body: Json = {"type": "phone_number", "name": "Wanjiru Otieno", "country": fiat[:2], "fiat_currency": fiat}
        body["phone_number"] = {"phone_number": phone, "provider": self._one("mpesa", "mtn", "airtel")}
        return Call("POST", "/v1/beneficiaries", body)

    def _wallet(self) -> Call:
        body = {"network": self._one("stellar", "celo", "bitcoin"), "label": f"Till {self.chance.randrange(99)}"}
        return Call("POST", "/v1/wallets", {**body, "lightning": self._one(False, True)})

    def _lightning(self) -> Call:
        body = self._one(
            {"type": "invoice", "amount_sats": self.chance.randrange(5000), "description": "Two coffees"},
            {"type": "lightning_address", "username": f"till{self.chance.randrange(40)}"},
        )
        return Call("POST", f"/v1/wallets/{self._id('wal')}/lightning", body)

    def _recurring(self) -> Call:
        symbol, network = self._one(*ASSETS)
        body: Json = {"name": "Rent", "type": "send", "source": {"symbol": symbol, "network": network}}
        body |= {"amount": self._amount_of(symbol), "amount_currency": symbol}
        to = {"type": "platform_user", "email": "amina@example.test"}
        return Call("POST", "/v1/recurring-payments", {**body, "recipient": {"destination": to}})

    def _schedule(self) -> Call:
        path = f"/v1/recurring-payments/{self._id('rp')}"
        body = {"frequency": self._one("daily", "weekly", "monthly"), "day_of_week": "friday", "day_of_month": 31}
        body |= {
            "start_date": "2026-02-01",
            "end": self._one({"type": "never"}, {"type": "after_occurrences", "occurrences": 2}),
        }
        return self._one(
            Call("PUT", f"{path}/schedule", body), Call("GET", f"{path}/review"), Call("POST", f"{path}/activate", {}),
            Call("POST", f"{path}/pause", {"reason": "Holiday"}), Call("POST", f"{path}/restart", {}),
            Call("DELETE", path),
        )  # fmt: skip

    def _list(self) -> Call:
        return Call("GET", f"/v1{self._one(*LISTS)}{self._one(*QUERIES)}")

    def _read(self) -> Call:
        prefix, path = self._one(*READ)
        return Call("GET", f"/v1/{path}/{self._id(prefix)}")

    def _action(self) -> Call:
        action = self._one(*ACTIONS)
        target = self._id("wal" if action == "deposit_arrives" and self.chance.random() < 0.4 else "txn", "dep")
        body: Json = {"target": target}
        if target.startswith("wal"):
            body |= {"asset": self._one("USDC", "BTC", "CELO"), "amount": "5"}
        return Call("POST", f"/_simulator/actions/{action}", body)

    def _advance(self) -> Call:
        body = self._one(
            {"by": "1m"}, {"by": "20s"}, {"by": "10m"}, {"by": "31m"}, {"by": "1d"}, {"to_next_timer": True}
        )
        return Call("POST", "/_simulator/clock/advance", body)

    def _show(self) -> Call:
        if self.chance.random() < 0.3:
            return Call("GET", f"/_simulator/resources/{self._id('txn', 'qt', 'ben', 'wal')}")
        return Call("GET", f"/_simulator/{self._one(*SHOWN)}?limit=20")

    def _steer(self) -> Call:
        fault = {"match": {"path": "/quotes"}, "times": 1, "respond": {"status": 503, "code": "service_unavailable"}}
        calls = [
            Call("POST", "/_simulator/actions/move_rates", {"percent": self.chance.randrange(-3, 4)}),
            Call("POST", "/_simulator/actions/set_balance", {"symbol": "USDC", "network": "CELO", "amount": "100000"}),
            Call("POST", "/_simulator/actions/set_limits", {"daily": "900000000", "monthly": "9000000000"}),
            Call("POST", "/_simulator/faults", fault),
            Call(
                "PUT",
                "/_simulator/scenarios/active",
                {"names": self._one(["autopilot"], [], ["autopilot", "test-values"])},
            ),
            Call("POST", "/_simulator/snapshots", {"name": "here"}),
            Call("POST", "/_simulator/trigger", {"event": self._one("transaction.completed", "transaction.refunded")}),
            *[Call("POST", f"/_simulator/snapshots/{one}/restore") for one in self.snapshots],
        ]
        return self._one(*calls)


class Player:
    """A connection to one server, with the tokens of its default world."""

    def __init__(self, origin: str) -> None:
        self.address = str(urlsplit(origin).netloc)
        self.connection = HTTPConnection(self.address, timeout=120)
        self.token = ""

    def play(self, call: Call) -> tuple[int, str]:
        """Make the call; return the status and the raw body. An expired token is renewed first."""
        status, body = self._send(call)
        if status == 401:
            signed = self._send(Call("POST", "/v1/auth/token", KEYS))[1]
            self.token = str(json.loads(signed)["access_token"])
            status, body = self._send(call)
        return status, body

    def _send(self, call: Call) -> tuple[int, str]:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}", **call.headers}
        if call.path.startswith("/_simulator"):
            headers.pop("Authorization")
        body = None if call.body is None else json.dumps(call.body)
        self.connection.request(call.method, call.path, body, headers)
        response = self.connection.getresponse()
        return response.status, response.read().decode()


def comparable(body: str, texts: bool) -> str:
    """Return a body without what may differ; without human texts if `texts` is False."""
    for pattern, replacement in _EXEMPT:
        body = pattern.sub(replacement, body)
    return body if texts else _TEXTS.sub(r'"\1":"-"', body)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.campaigns.replay", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--since", required=True, help="the commit to compare with")
    parser.add_argument("--calls", type=int, default=60_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ignore-texts", action="store_true", help="messages and descriptions may differ")
    given = parser.parse_args(arguments)
    with ExitStack() as stack:
        then = stack.enter_context(checked_out(given.since))
        players = [
            Player(stack.enter_context(Subject(name, tree).running("--seed", "1")).origin)
            for name, tree in (("before", then), ("now", Path(ROOT)))
        ]
        return compare(players, Plan(given.seed), given.calls, texts=not given.ignore_texts)


def compare(players: list[Player], plan: Plan, calls: int, texts: bool) -> int:
    """Play the calls on both servers in turns; return 1 at the first difference, after showing it."""
    statuses: Counter[int] = Counter()
    for number in range(1, calls + 1):
        call = plan.next()
        (before, was), (now, body) = (player.play(call) for player in players)
        compared = texts or not call.path.startswith(DESCRIPTIVE)
        if before != now or (compared and comparable(was, texts) != comparable(body, texts)):
            sys.stdout.write(
                f"Call {number} differs: {call}\n  before: {before} {was[:3000]}\n  now:    {now} {body[:3000]}\n"
            )
            return 1
        statuses[now] += 1
        if body.startswith("{") and now < 300:
            plan.saw(call, json.loads(body))
    shown = ", ".join(f"{count} with {status}" for status, count in sorted(statuses.items()))
    sys.stdout.write(f"{calls} calls were answered alike: {shown}.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
