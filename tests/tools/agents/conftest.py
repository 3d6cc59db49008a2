"""An agent's session with the server that the tests share, in a separate world."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from simulator.agents import toolbox
from simulator.agents.session import Session
from simulator.engine.text.json import JsonObject
from tests.support import BENEFICIARY

QUOTE: JsonObject = {
    "type": "offramp",
    "network": "celo",
    "asset": "USDC",
    "fiat_currency": "KES",
    "amount": "30",
    "amount_currency": "USDC",
    "method": "mobile_money",
}
REFUND_ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"
_NUMBERS = count(1)


class Agent:
    """Uses tools, and expects them to succeed or to refuse."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.use: Callable[..., JsonObject] = self._use

    def _use(self, name: str, /, **arguments: object) -> JsonObject:
        done, answer = toolbox.use(self.session, name, arguments)
        assert done, answer
        return answer

    def refused(self, name: str, /, **arguments: object) -> JsonObject:
        done, answer = toolbox.use(self.session, name, arguments)
        assert not done, answer
        error: JsonObject = answer["error"]
        return error

    def offramp(self, phone: str = "+254722000000") -> str:
        """The id of a confirmed offramp that is paid out to this number."""
        details = {**BENEFICIARY, "phone_number": {"phone_number": phone, "provider": "mpesa"}}
        payee = self.use("call", method="POST", path="/beneficiaries", body=details)["id"]
        quote = self.use("call", method="POST", path="/quotes", body=QUOTE)["id"]
        body = {"beneficiary_id": payee, "refund_address": REFUND_ADDRESS}
        made: str = self.use("call", method="POST", path=f"/quotes/{quote}/confirm", body=body)["id"]
        return made


@pytest.fixture
def agent(origin: str) -> Iterator[Agent]:
    """In a fresh world with the happy path and the test values."""
    agent = Agent(Session(origin))
    agent.use("world", do="make", id=f"agent-{next(_NUMBERS)}", scenarios=["autopilot", "test-values"])
    yield agent
    agent.use("world", do="end")
