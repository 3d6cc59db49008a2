"""The state table of networks (decision S22), and the events and error codes of this package. Setting the current state
again is not a transition and emits nothing.
"""

from __future__ import annotations

from simulator.engine.rows.error import ErrorCode
from simulator.engine.rows.event import EventType
from simulator.kernel.machine import Machine, Move

STATUSES = {
    "operational": "It works as usual.",
    "degraded": "It is slower or fails occasionally.",
    "down": "It cannot be used. Do not create quotes or transactions on it.",
}
SET = "set_network"
START = "start"


def _row(state: str) -> tuple[Move, ...]:
    return tuple(
        Move(SET, target, ("network.status_changed",), when=target, basis="specified")
        for target in STATUSES
        if target != state
    )


NETWORK = Machine(
    "network", initial=(Move(START, "operational", basis="S22"),), rows={state: _row(state) for state in STATUSES}
)

UNSUPPORTED_PAIR = ErrorCode(
    "unsupported_pair",
    422,
    "this combination of network, asset, fiat or method is not supported",
    after="idempotency_conflict",
    lasting=True,
)
INVALID_WALLET_ADDRESS = ErrorCode(
    "invalid_wallet_address", 422, "the address is not valid for the network", after="quote_not_found", lasting=True
)
NETWORK_UNAVAILABLE = ErrorCode(
    "network_unavailable", 503, "the target network is down or temporarily unavailable", after="slippage_exceeded"
)
UNSUPPORTED_NETWORK = ErrorCode(
    "unsupported_network", 422, "the network is not active or not supported for the operation", lasting=True
)
UNSUPPORTED_ASSET = ErrorCode("unsupported_asset", 422, "the asset is not available on the network", lasting=True)
INVALID_PHONE_NUMBER = ErrorCode(
    "invalid_phone_number", 422, "the phone number is not valid for the country", after="wallet_disabled", lasting=True
)
INVALID_BANK_ACCOUNT = ErrorCode(
    "invalid_bank_account", 422, "the bank code or account number was not validated", lasting=True
)

ERRORS = (
    UNSUPPORTED_PAIR,
    INVALID_WALLET_ADDRESS,
    NETWORK_UNAVAILABLE,
    UNSUPPORTED_NETWORK,
    UNSUPPORTED_ASSET,
    INVALID_PHONE_NUMBER,
    INVALID_BANK_ACCOUNT,
)

EVENTS = (
    EventType(
        "network.status_changed",
        "a network moved between operational, degraded and down",
        "`status` in `data.object` is the new status. While it is `down`, do not create quotes or transactions there.",
        narrows=False,
        after="kyc.rejected",
    ),
)
