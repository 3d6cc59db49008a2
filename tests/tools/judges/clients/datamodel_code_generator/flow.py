"""An onramp and its webhook on the models that datamodel-code-generator makes: `flow.py http://127.0.0.1:8642`."""

from __future__ import annotations

import json
import sys
from typing import TypeVar

import httpx
from models import (
    ConfirmQuoteRequest,
    CreateQuoteRequest,
    CreateTokenRequest,
    CreateWebhookRequest,
    OnrampTransaction,
    RampQuote,
    TokenResponse,
    TransactionCompletedEvent,
    WebhookEndpoint,
)
from pydantic import BaseModel
from receiver import Receiver, act

T = TypeVar("T", bound=BaseModel)


class Service:
    """Sends models and reads models; the generator makes nothing but these."""

    def __init__(self, base_url: str) -> None:
        self.http = httpx.Client(base_url=base_url, trust_env=False)

    def post(self, path: str, body: BaseModel, kind: type[T], key: str | None = None) -> T:
        headers = {"Content-Type": "application/json", **({"Idempotency-Key": key} if key else {})}
        sent = body.model_dump_json(exclude_none=True)
        return self.read(self.http.post(path, content=sent, headers=headers), kind)

    def get(self, path: str, kind: type[T]) -> T:
        return self.read(self.http.get(path), kind)

    def read(self, answer: httpx.Response, kind: type[T]) -> T:
        if answer.is_error:
            raise SystemExit(f"wanted {kind.__name__}, got {answer.status_code} {answer.text}")
        return kind.model_validate_json(answer.content)


def main(origin: str) -> None:
    service = Service(f"{origin}/v1")
    keys = CreateTokenRequest(public_key="pk_test_simulator", secret_key="sk_test_simulator")
    token: str = service.post("/auth/token", keys, TokenResponse).access_token
    service.http.headers["Authorization"] = f"Bearer {token}"

    receiver = Receiver()
    hook = CreateWebhookRequest.model_validate({"url": receiver.url, "events": ["*"]})
    service.post("/webhooks", hook, WebhookEndpoint)

    form = {"type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES", "method": "mobile_money"}
    asked = CreateQuoteRequest.model_validate({**form, "amount": "5000", "amount_currency": "KES"})
    quote = service.post("/quotes", asked, RampQuote)
    confirmation = ConfirmQuoteRequest.model_validate(
        {
            "wallet_address": "0x52908400098527886E0F7030069857D2E4169EE7",
            "payer": {"phone_number": "+254712345678"},
        }
    )
    made = service.post(f"/quotes/{quote.id}/confirm", confirmation, OnrampTransaction, key="onramp-1")
    assert made.status == "awaiting_payment", made.status
    assert made.payment_instructions.root.method == "mobile_money", made.payment_instructions

    act(origin, "payment_arrives", made.id)
    act(origin, "complete", made.id)
    read = service.get(f"/transactions/{made.id}", OnrampTransaction)

    event = TransactionCompletedEvent.model_validate_json(receiver.wait_for("transaction.completed"))
    told = OnrampTransaction.model_validate(event.data.object.model_dump())
    assert told.id == made.id
    sys.stdout.write(json.dumps({"onramp": read.status, "event": event.type, "object": told.status}))


if __name__ == "__main__":
    main(sys.argv[1])
