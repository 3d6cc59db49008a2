"""What the operations under /wallets and the actions on what they make are given: bodies and parameters."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, WithJsonSchema

from simulator.resources.deposit_wallets.invoices import MAX_AMOUNT_SATS
from simulator.resources.deposit_wallets.shapes import TOKEN_PATTERN, WalletStatus
from simulator.resources.reference import NETWORKS
from simulator.wire.fields import Amount, Body, FreeText, Name, Note, Text

DEFAULT_EXPIRY_SECONDS = 1800


MAX_EXPIRY_SECONDS = 365 * 24 * 3600


Sats = Annotated[int, Field(ge=1, le=MAX_AMOUNT_SATS)]


Network = Annotated[str, WithJsonSchema({"type": "string", "enum": list(NETWORKS)})]
"""Any string is taken, because one outside the three is 422 and not malformed (decision H5)."""


class WalletBody(Body):
    network: Network
    label: Name | None = None
    reference: Name | None = None
    lightning: bool | None = False


class WalletChanges(Body):
    """Only the fields sent change. The default of `status`, which may not be null, is never looked at."""

    label: Name | None = None
    status: WalletStatus = Field(default_factory=lambda: "active")


class EntryBody(Body):
    type: Literal["lightning_address", "invoice"]


class AddressBody(EntryBody):
    username: Annotated[str, StringConstraints(pattern=r"^[a-z0-9._-]{1,64}$")] | None = None


class InvoiceBody(EntryBody):
    amount_sats: Sats
    description: Note | None = None
    expires_in: Annotated[int, Field(ge=1, le=MAX_EXPIRY_SECONDS)] | None = DEFAULT_EXPIRY_SECONDS


class DepositParameters(Body):
    asset: Annotated[str, StringConstraints(pattern=TOKEN_PATTERN)]
    amount: Amount
    memo: FreeText | None = None
    tx_hash: Text | None = None


class ConfirmationParameters(Body):
    confirmations: Annotated[int, Field(ge=1, le=1_000_000)] | None = None


class ReasonParameters(Body):
    reason: Note | None = None


class LightningPaymentParameters(Body):
    amount_sats: Sats
