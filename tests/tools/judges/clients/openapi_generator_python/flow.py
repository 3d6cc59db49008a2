"""An onramp and its webhook on the client that openapi-generator makes for Python: `flow.py http://127.0.0.1:8642`."""

from __future__ import annotations

import json
import sys

from openapi_client import (
    ApiClient,
    AuthenticationApi,
    Configuration,
    ConfirmQuoteRequest,
    ConfirmQuoteRequestPayer,
    CreateQuoteRequest,
    CreateTokenRequest,
    CreateWebhookRequest,
    OnrampTransaction,
    OrdersAndTransactionsApi,
    RampMobileMoneyInstructions,
    RampQuotesAndRampsApi,
    TransactionCompletedEvent,
    WebhooksApi,
)
from receiver import Receiver, act


def onramp_in(answer: object) -> OnrampTransaction:
    """The onramp that an answer of several types holds."""
    assert isinstance(answer, OnrampTransaction), answer
    return answer


def main(origin: str) -> None:
    configuration = Configuration(host=f"{origin}/v1")
    client = ApiClient(configuration)
    keys = CreateTokenRequest(public_key="pk_test_simulator", secret_key="sk_test_simulator")
    configuration.access_token = AuthenticationApi(client).create_token(keys).access_token

    receiver = Receiver()
    WebhooksApi(client).create_webhook(CreateWebhookRequest(url=receiver.url, events=["*"]))

    ramps = RampQuotesAndRampsApi(client)
    asked = CreateQuoteRequest(
        type="onramp",
        network="celo",
        asset="USDC",
        fiat_currency="KES",
        amount="5000",
        amount_currency="KES",
        method="mobile_money",
    )
    quote = ramps.create_quote(asked)
    confirmation = ConfirmQuoteRequest(
        wallet_address="0x52908400098527886E0F7030069857D2E4169EE7",
        payer=ConfirmQuoteRequestPayer(phone_number="+254712345678"),
    )
    answer = ramps.confirm_quote(quote.id, confirmation, idempotency_key="onramp-1")
    made = onramp_in(answer.actual_instance)
    assert made.status == "awaiting_payment", made.status
    instructions = made.payment_instructions.actual_instance
    assert isinstance(instructions, RampMobileMoneyInstructions), instructions

    act(origin, "payment_arrives", made.id)
    act(origin, "complete", made.id)
    read = onramp_in(OrdersAndTransactionsApi(client).get_transaction(made.id).actual_instance)

    event = TransactionCompletedEvent.from_json(receiver.wait_for("transaction.completed").decode())
    assert event is not None
    told = onramp_in(event.data.object.actual_instance)
    assert told.id == made.id
    sys.stdout.write(json.dumps({"onramp": read.status, "event": event.type, "object": told.status}))


if __name__ == "__main__":
    main(sys.argv[1])
