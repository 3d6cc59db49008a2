"""An integration with the generated client: a complete onramp, offramp, swap and recurring payment.

`ramp_client` is generated from the contract by openapi-python-client, and mypy checks this file against it in strict
mode. It needs a simulator with a manual clock and the autopilot: `python flows.py http://127.0.0.1:8642`.
"""

from __future__ import annotations

import datetime
import json
import sys
from typing import TypeVar

from ramp_client import AuthenticatedClient, Client
from ramp_client.api.authentication import create_token
from ramp_client.api.beneficiaries import create_beneficiary
from ramp_client.api.orders_and_transactions import get_transaction
from ramp_client.api.ramp_quotes_and_ramps import confirm_quote, create_quote
from ramp_client.api.recurring_payments import (
    activate_recurring_payment,
    create_recurring_payment,
    get_recurring_payment,
    list_recurring_transactions,
    review_recurring_payment,
    set_recurring_schedule,
)
from ramp_client.api.swap import quote_swap, swap
from ramp_client.models import (
    Activation,
    BeneficiaryRecipient,
    ConfirmQuoteRequest,
    ConfirmQuoteRequestPayer,
    CreatePhoneNumberBeneficiary,
    CreatePhoneNumberBeneficiaryFiatCurrency,
    CreateQuoteRequest,
    CreateQuoteRequestAmountCurrency,
    CreateQuoteRequestAsset,
    CreateQuoteRequestFiatCurrency,
    CreateQuoteRequestMethod,
    CreateQuoteRequestNetwork,
    CreateQuoteRequestType,
    CreateRecurringWithdraw,
    CreateRecurringWithdrawAmountCurrency,
    CreateTokenRequest,
    DailySchedule,
    End,
    EndType,
    OfframpTransaction,
    OnrampTransaction,
    PhoneNumber,
    PhoneNumberBeneficiary,
    QuoteSwapRequest,
    QuoteSwapRequestAmountSide,
    RampQuote,
    RecurringTransactionList,
    RecurringWithdrawal,
    Source,
    SourceNetwork,
    SourceSymbol,
    SwapQuote,
    SwapRequest,
    SwapSide,
    SwapSideNetwork,
    SwapSideSymbol,
    SwapTransaction,
    TokenResponse,
)

from simulator.engine.clients.control import ControlClient

STELLAR = "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ"
CELO = "0x52908400098527886E0F7030069857D2E4169EE7"
PHONE = "+254722123456"
T = TypeVar("T")


def expect(kind: type[T], answer: object) -> T:
    """The answer as what it has to be; what was refused says so."""
    if not isinstance(answer, kind):
        raise SystemExit(f"wanted {kind.__name__}, got {answer}")
    return answer


def sign_in(base_url: str) -> AuthenticatedClient:
    keys = CreateTokenRequest(public_key="pk_test_simulator", secret_key="sk_test_simulator")
    stranger = Client(base_url=base_url, raise_on_unexpected_status=True)
    token = expect(TokenResponse, create_token.sync(client=stranger, body=keys))
    return AuthenticatedClient(base_url=base_url, token=token.access_token, raise_on_unexpected_status=True)


def quote_request(
    direction: CreateQuoteRequestType, network: CreateQuoteRequestNetwork, amount: str, currency: str
) -> CreateQuoteRequest:
    return CreateQuoteRequest(
        type_=direction,
        network=network,
        asset=CreateQuoteRequestAsset.USDC,
        fiat_currency=CreateQuoteRequestFiatCurrency.KES,
        amount=amount,
        amount_currency=CreateQuoteRequestAmountCurrency(currency),
        method=CreateQuoteRequestMethod.MOBILE_MONEY,
    )


def onramp(client: AuthenticatedClient, control: ControlClient) -> OnrampTransaction:
    wanted = quote_request(CreateQuoteRequestType.ONRAMP, CreateQuoteRequestNetwork.STELLAR, "5000", "KES")
    quote = expect(RampQuote, create_quote.sync(client=client, body=wanted, idempotency_key="onramp-quote"))
    payer = ConfirmQuoteRequestPayer(phone_number=PHONE)
    confirmation = ConfirmQuoteRequest(wallet_address=STELLAR, payer=payer, memo="42")
    made = expect(OnrampTransaction, confirm_quote.sync(quote.id, client=client, body=confirmation))
    assert made.status == "awaiting_payment", made.status
    control.post("/clock/advance", {"by": "10m"})
    return expect(OnrampTransaction, get_transaction.sync(made.id, client=client))


def payee(client: AuthenticatedClient) -> PhoneNumberBeneficiary:
    body = CreatePhoneNumberBeneficiary(
        type_="phone_number",
        name="Wanjiru Otieno",
        country="KE",
        fiat_currency=CreatePhoneNumberBeneficiaryFiatCurrency.KES,
        phone_number=PhoneNumber(phone_number=PHONE, provider="mpesa"),
    )
    return expect(PhoneNumberBeneficiary, create_beneficiary.sync(client=client, body=body))


def offramp(
    client: AuthenticatedClient, control: ControlClient, beneficiary: PhoneNumberBeneficiary
) -> OfframpTransaction:
    wanted = quote_request(CreateQuoteRequestType.OFFRAMP, CreateQuoteRequestNetwork.CELO, "30", "USDC")
    quote = expect(RampQuote, create_quote.sync(client=client, body=wanted))
    confirmation = ConfirmQuoteRequest(beneficiary_id=beneficiary.id, refund_address=CELO, reference="payout-1")
    made = expect(OfframpTransaction, confirm_quote.sync(quote.id, client=client, body=confirmation))
    assert made.deposit, "an offramp says where to deposit"
    control.post("/clock/advance", {"by": "10m"})
    return expect(OfframpTransaction, get_transaction.sync(made.id, client=client))


def swapped(client: AuthenticatedClient, control: ControlClient) -> SwapTransaction:
    wanted = QuoteSwapRequest(
        from_=SwapSide(symbol=SwapSideSymbol.USDC, network=SwapSideNetwork.STELLAR),
        to=SwapSide(symbol=SwapSideSymbol.XLM, network=SwapSideNetwork.STELLAR),
        amount="30",
        amount_side=QuoteSwapRequestAmountSide.FROM,
    )
    quote = expect(SwapQuote, quote_swap.sync(client=client, body=wanted))
    made = expect(SwapTransaction, swap.sync(client=client, body=SwapRequest(quote_id=quote.id)))
    control.post("/clock/advance", {"by": "1m"})
    return expect(SwapTransaction, get_transaction.sync(made.id, client=client))


def recurring(
    client: AuthenticatedClient, control: ControlClient, beneficiary: PhoneNumberBeneficiary
) -> RecurringWithdrawal:
    wanted = CreateRecurringWithdraw(
        name="Rent",
        type_="withdraw",
        source=Source(symbol=SourceSymbol.USDC, network=SourceNetwork.CELO),
        amount="20",
        amount_currency=CreateRecurringWithdrawAmountCurrency.USDC,
        recipient=BeneficiaryRecipient(beneficiary_id=beneficiary.id),
    )
    payment = expect(RecurringWithdrawal, create_recurring_payment.sync(client=client, body=wanted))
    schedule = DailySchedule(
        frequency="daily",
        start_date=str(payment.created_at.date() + datetime.timedelta(days=1)),
        end=End(type_=EndType.AFTER_OCCURRENCES, occurrences=2),
    )
    expect(RecurringWithdrawal, set_recurring_schedule.sync(payment.id, client=client, body=schedule))
    review_recurring_payment.sync(payment.id, client=client)
    expect(Activation, activate_recurring_payment.sync(payment.id, client=client))
    control.post("/clock/advance", {"by": "4d"})
    return payment


def main(origin: str) -> None:
    base_url = f"{origin}/v1"
    control = ControlClient(origin)
    client = sign_in(base_url)
    done: dict[str, str] = {"onramp": onramp(client, control).status}
    beneficiary = payee(client)
    done["offramp"] = offramp(client, control, beneficiary).status
    done["swap"] = swapped(client, control).status
    payment = recurring(client, control, beneficiary)
    client = sign_in(base_url)  # four days later the first token is long expired
    read = get_recurring_payment.sync(payment.id, client=client)
    done["recurring payment"] = expect(RecurringWithdrawal, read).status
    runs = expect(RecurringTransactionList, list_recurring_transactions.sync(payment.id, client=client))
    done["runs"] = " ".join(run.status for run in runs.data)
    sys.stdout.write(json.dumps(done))


if __name__ == "__main__":
    main(sys.argv[1])
