"""What the operations under /wallets and the actions on what they make are given: bodies and parameters."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from simulator.engine.text.fields import Amount, Body, FreeText, Name, Note, Text
from simulator.engine.text.shapes import Assumed, Meanings, OneOf
from simulator.providers.ramp.deposit_wallets import shapes
from simulator.providers.ramp.deposit_wallets.invoices import MAX_AMOUNT_SATS
from simulator.providers.ramp.deposit_wallets.states import WALLET_MEANINGS
from simulator.providers.ramp.shapes import CANONICAL_NETWORKS

DEFAULT_EXPIRY_SECONDS = 1800


MAX_EXPIRY_SECONDS = 365 * 24 * 3600


Sats = Annotated[int, Field(ge=1, le=MAX_AMOUNT_SATS), Assumed("invoice-bounds", "minimum", "maximum")]

ENTRY_MEANINGS = {
    "lightning_address": "A reusable address, name@domain.",
    "invoice": "An invoice (BOLT11) for one payment of one amount.",
}


Network = Annotated[str, OneOf(CANONICAL_NETWORKS)]
"""Any string is taken, because one outside the three is 422 and not malformed (decision H5)."""


class WalletBody(Body):
    """The wallet that is to be made."""

    network: Network
    """The network to receive on."""
    label: Name | None = None
    """A label for the wallet."""
    reference: Name | None = None
    """The caller's own reference; every deposit to the wallet and every event about it carries it."""
    lightning: bool | None = False
    """Whether a Lightning address is made with the wallet; on bitcoin only."""


class WalletChanges(Body):
    """Only the fields sent change. The default of `status`, which may not be null, is never looked at."""

    label: Name | None = None
    """The new label; null takes it away."""
    status: Annotated[shapes.WalletStatus, Meanings(WALLET_MEANINGS), Assumed("S15", "enum")] = Field(
        default_factory=lambda: "active"
    )
    """Whether deposits are to be credited from now on."""


class EntryBody(Body):
    """What a wallet is to receive by over Lightning."""

    type: Annotated[Literal["lightning_address", "invoice"], Meanings(ENTRY_MEANINGS)]
    """What is to be made; it decides which other members there are."""


class CreateLightningAddress(EntryBody):
    """A Lightning address that is to be made."""

    type: Literal["lightning_address"]
    username: Annotated[str, StringConstraints(pattern=r"^[a-z0-9._-]{1,64}$"), Assumed("S13", "pattern")] | None = None
    """What stands before the @; one that is free is made up when it is left out."""


class CreateInvoice(EntryBody):
    """An invoice that is to be made."""

    type: Literal["invoice"]
    amount_sats: Sats
    """How much the invoice is for, in satoshi: a hundred millionth of a bitcoin."""
    description: Note | None = None
    """What the invoice says to the payer."""
    expires_in: (
        Annotated[int, Field(ge=1, le=MAX_EXPIRY_SECONDS), Assumed("invoice-bounds", "minimum", "maximum")] | None
    ) = DEFAULT_EXPIRY_SECONDS
    """For how many seconds it can be paid."""


class DepositParameters(Body):
    asset: Annotated[str, StringConstraints(pattern=shapes.TOKEN_PATTERN)]
    """What arrives; a token that the wallet's network does not have makes the deposit fail."""
    amount: Amount
    """How much of it arrives."""
    memo: FreeText | None = None
    """The memo it comes with on stellar: the right one when left out, none at all when empty."""
    tx_hash: Text | None = None
    """The hash of the transaction on the chain; one is made up when left out."""


class ConfirmationParameters(Body):
    confirmations: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """How many confirmations the deposit has now; one more than before when left out."""


class ReasonParameters(Body):
    reason: Note | None = None
    """Why it cannot be credited, as the deposit then shows it; `rejected` when left out."""


class LightningPaymentParameters(Body):
    amount_sats: Sats
    """How much is paid, in satoshi."""


ENTRIES: Mapping[str, type[EntryBody]] = {"lightning_address": CreateLightningAddress, "invoice": CreateInvoice}
