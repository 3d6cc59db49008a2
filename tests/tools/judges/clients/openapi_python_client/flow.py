"""An onramp and its webhook on the client that openapi-python-client makes: `flow.py http://127.0.0.1:8642`."""

from __future__ import annotations

import json
import sys
from typing import TypeVar

from ramp_client import AuthenticatedClient, Client
from ramp_client.api.authentication import create_token
from ramp_client.api.orders_and_transactions import get_transaction
from ramp_client.api.ramp_quotes_and_ramps import confirm_quote, create_quote
from ramp_client.api.webhooks import create_webhook
from ramp_client.models import (
    ConfirmQuoteRequest,
    ConfirmQuoteRequestPayer,
    CreateQuoteRequest,
    CreateQuoteRequestAmountCurrency,
    CreateQuoteRequestAsset,
    CreateQuoteRequestFiatCurrency,
    CreateQuoteRequestMethod,
    CreateQuoteRequestNetwork,
    CreateQuoteRequestType,
    CreateTokenRequest,
    CreateWebhookRequest,
    CreateWebhookRequestEventsItem,
    OnrampTransaction,
    RampQuote,
    TokenResponse,
    TransactionCompletedEvent,
    WebhookEndpoint,
)
from receiver import Receiver, act

T = TypeVar("T")


def expect(kind: type[T], answer: object) -> T:
    """The answer as what it has to be; what was refused says so."""
    if not isinstance(answer, kind):
        raise SystemExit(f"wanted {kind.__name__}, got {answer}")
    return answer


def main(origin: str) -> None:
    base_url = f"{origin}/v1"
    keys = CreateTokenRequest(public_key="pk_test_simulator", secret_key="sk_test_simulator")
    token = expect(TokenResponse, create_token.sync(client=Client(base_url=base_url), body=keys))
    client = AuthenticatedClient(base_url=base_url, token=token.access_token, raise_on_unexpected_status=True)

    receiver = Receiver()
    hook = CreateWebhookRequest(url=receiver.url, events=[CreateWebhookRequestEventsItem("*")])
    expect(WebhookEndpoint, create_webhook.sync(client=client, body=hook))

    asked = CreateQuoteRequest(
        type_=CreateQuoteRequestType.ONRAMP,
        network=CreateQuoteRequestNetwork.CELO,
        asset=CreateQuoteRequestAsset.USDC,
        fiat_currency=CreateQuoteRequestFiatCurrency.KES,
        amount="5000",
        amount_currency=CreateQuoteRequestAmountCurrency.KES,
        method=CreateQuoteRequestMethod.MOBILE_MONEY,
    )
    quote = expect(RampQuote, create_quote.sync(client=client, body=asked))
    confirmation = ConfirmQuoteRequest(
        wallet_address="0x52908400098527886E0F7030069857D2E4169EE7",
        payer=ConfirmQuoteRequestPayer(phone_number="+254712345678"),
    )
    answer = confirm_quote.sync(quote.id, client=client, body=confirmation, idempotency_key="onramp-1")
    made = expect(OnrampTransaction, answer)
    assert made.status == "awaiting_payment", made.status
    assert made.payment_instructions.method == "mobile_money", made.payment_instructions

    act(origin, "payment_arrives", made.id)
    act(origin, "complete", made.id)
    read = expect(OnrampTransaction, get_transaction.sync(made.id, client=client))

    event = TransactionCompletedEvent.from_dict(json.loads(receiver.wait_for("transaction.completed")))
    told = expect(OnrampTransaction, event.data.object_)
    assert told.id == made.id
    sys.stdout.write(json.dumps({"onramp": read.status, "event": event.type_, "object": told.status}))


if __name__ == "__main__":
    main(sys.argv[1])
