"""The payments that `rampsim certify` sends to a receiver: onramps, an offramp, a recurring payment that runs twice."""

from __future__ import annotations

from decimal import Decimal

from simulator.certification.service import Ask, Flow, Playbook, Standing, Step
from simulator.engine.clients.control import ControlClient
from simulator.kernel.clock import MINUTE_MS, format_timestamp, parse_timestamp
from simulator.providers.ramp.key_forms import TOKEN_EXCHANGE
from simulator.providers.ramp.signing import RETRY_DELAYS_MS

_QUOTE = {
    "type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES", "amount": "5000",
    "amount_currency": "KES", "method": "mobile_money",
}  # fmt: skip
_PAYER = {
    "wallet_address": "0x52908400098527886E0F7030069857D2E4169EE7", "payer": {"phone_number": "+254712345678"},
    "reference": "${reference}",
}  # fmt: skip
_ONRAMP_CALLS = (("quote", "/quotes", _QUOTE), ("transaction", "/quotes/${quote.id}/confirm", _PAYER))
_OFFRAMP_CALLS = (
    ("beneficiary", "/beneficiaries", {
        "type": "phone_number", "name": "Wanjiru Otieno", "country": "KE", "fiat_currency": "KES",
        "phone_number": {"phone_number": "+254722000000", "provider": "mpesa"},
    }),
    ("quote", "/quotes", {**_QUOTE, "type": "offramp", "amount": "30", "amount_currency": "USDC"}),
    ("transaction", "/quotes/${quote.id}/confirm", {
        "beneficiary_id": "${beneficiary.id}", "refund_address": _PAYER["wallet_address"],
        "reference": "${reference}",
    }),
)  # fmt: skip
_COMPLETED = (
    Step("transaction.created"),
    Step("transaction.awaiting_payment"),
    Step("transaction.processing", "payment_arrives"),
    Step("transaction.completed", "complete"),
)
_REFUNDED = Step("transaction.refunded", "refund")
_SYMBOL, _NETWORK, _AMOUNT = "XLM", "STELLAR", Decimal(1)
_RECIPIENT = {"destination": {"type": "platform_user", "email": "amina@example.test"}}
"""The recipient of the recurring payment. A transfer within the service completes immediately, without an action."""


def _run_twice(call: Ask, control: ControlClient, reference: str) -> str:
    """Create a recurring payment, let it run twice, and pause it. Return its id. Each run is at most a minute ahead."""
    assets = call("GET", "/wallet/assets?size=100", None)["data"]
    held = next(Decimal(one["available"]) for one in assets if (one["symbol"], one["network"]) == (_SYMBOL, _NETWORK))
    if held < 2 * _AMOUNT:
        parameters = {"symbol": _SYMBOL, "network": _NETWORK, "amount": str(2 * _AMOUNT)}
        control.post("/actions/set_balance", {"parameters": parameters})
    body = {
        "name": "Certify", "type": "send", "source": {"symbol": _SYMBOL, "network": _NETWORK}, "amount": str(_AMOUNT),
        "amount_currency": _SYMBOL, "recipient": _RECIPIENT, "reference": reference,
    }  # fmt: skip
    payment = str(call("POST", "/recurring-payments", body)["id"])
    path = f"/recurring-payments/{payment}"
    for start in ("activate", "restart"):
        _in_a_minute(call, control, path)
        due = call("POST", f"{path}/{start}", None)["next_run_at"]
        control.post("/clock/advance", {"to": due})
        call("POST", f"{path}/pause", None)
    return payment


def _in_a_minute(call: Ask, control: ControlClient, path: str) -> None:
    """Schedule a recurring payment's next run at the following full minute of the world's clock."""
    due = format_timestamp(parse_timestamp(control.get("/clock")["now"]) + MINUTE_MS)
    schedule = {"frequency": "daily", "start_date": due[:10], "time": due[11:16], "timezone": "UTC"}
    call("PUT", f"{path}/schedule", {**schedule, "end": {"type": "never"}})
    call("GET", f"{path}/review", None)


_ONRAMP = Flow("onramp", "onramp", _ONRAMP_CALLS, _COMPLETED)
_FLOWS = (
    _ONRAMP,
    Flow(
        "offramp-refunded",
        "offramp",
        _OFFRAMP_CALLS,
        (
            Step("transaction.created"),
            Step("transaction.awaiting_deposit"),
            Step("transaction.processing", "deposit_arrives"),
            Step("transaction.failed", "fail"),
            _REFUNDED,
        ),
    ),
    Flow("completed-refunded", "onramp", _ONRAMP_CALLS, (*_COMPLETED, _REFUNDED)),
)

PLAYBOOK = Playbook(
    kind="onramp",
    path="/transactions/",
    exchange=TOKEN_EXCHANGE,
    order=_ONRAMP.order,
    needed="an onramp of 5000 KES and a recurring send of 1 XLM",
    history=_COMPLETED,
    forged={"status": "completed", "tx_hash": f"0x{'0' * 64}"},
    altered="destination_amount",
    refund=(Step("transaction.failed", "fail"), _REFUNDED),
    standing=Standing(
        "recurring payment",
        _run_twice,
        "recurring_payment.run_succeeded",
        lambda shown: str(shown["run"]["transaction_id"]),
    ),
    flows=_FLOWS,
    retry_delays_ms=RETRY_DELAYS_MS,
    room=("set_limits", {"daily": "1000000000", "monthly": "10000000000"}),
)
