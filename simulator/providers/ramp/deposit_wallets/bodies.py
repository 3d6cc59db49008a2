"""Request bodies of the operations under /wallets, and the parameters of the actions on wallets and deposits."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from simulator.engine.text.fields import Body, FreeText, Name, Note
from simulator.engine.text.shapes import Assumed, Meanings, OneOf
from simulator.providers.ramp.deposit_wallets import shapes
from simulator.providers.ramp.deposit_wallets.invoices import MAX_AMOUNT_SATS
from simulator.providers.ramp.deposit_wallets.states import WALLET_MEANINGS
from simulator.providers.ramp.ramps import PositiveAmount, TxHash
from simulator.providers.ramp.shapes import CANONICAL_NETWORKS

DEFAULT_EXPIRY_SECONDS = 1800
MAX_EXPIRY_SECONDS = 365 * 24 * 3600
Sats = Annotated[int, Field(ge=1, le=MAX_AMOUNT_SATS), Assumed("invoice-bounds", "minimum", "maximum")]

ENTRY_MEANINGS = {
    "lightning_address": "A reusable address, name@domain.",
    "invoice": "An invoice (BOLT11) for one payment of one amount.",
}

Network = Annotated[str, OneOf(CANONICAL_NETWORKS)]
"""Any string is accepted here, because an unknown network is an error 422 and not a malformed value (decision H5)."""


class WalletBody(Body):
    """The wallet to create."""

    network: Network
    """The network on which the wallet receives deposits."""
    label: Name | None = None
    """A label for the wallet."""
    reference: Name | None = None
    """Your own reference. Every deposit to the wallet and every event about the wallet contains it."""
    lightning: bool | None = False
    """True to create a Lightning address together with the wallet. Only available on bitcoin."""


class WalletChanges(Body):
    """The fields of a wallet to change. Omitted fields do not change.

    `status` cannot be null. A request without `status` keeps the current status, although the field has a default
    value.
    """

    label: Name | None = None
    """The new label. Null removes the label."""
    status: Annotated[shapes.WalletStatus, Meanings(WALLET_MEANINGS), Assumed("S15", "enum")] = Field(
        default_factory=lambda: "active"
    )
    """The new status. An `active` wallet credits deposits. A `disabled` wallet does not."""


class EntryBody(Body):
    """The Lightning address or invoice to create."""

    type: Annotated[Literal["lightning_address", "invoice"], Meanings(ENTRY_MEANINGS)]
    """The type of entry. It determines which other fields are required."""


class CreateLightningAddress(EntryBody):
    """A Lightning address to create."""

    type: Literal["lightning_address"]
    username: Annotated[str, StringConstraints(pattern=r"^[a-z0-9._-]{1,64}$"), Assumed("S13", "pattern")] | None = None
    """The part of the address before the @. By default, an unused name is generated."""


class CreateInvoice(EntryBody):
    """An invoice to create."""

    type: Literal["invoice"]
    amount_sats: Sats
    """The amount of the invoice, in satoshi. One satoshi is a hundred millionth of a bitcoin."""
    description: Note | None = None
    """The description for the payer."""
    expires_in: (
        Annotated[int, Field(ge=1, le=MAX_EXPIRY_SECONDS), Assumed("invoice-bounds", "minimum", "maximum")] | None
    ) = DEFAULT_EXPIRY_SECONDS
    """The time in seconds until the invoice expires."""


class DepositParameters(Body):
    asset: Annotated[str, StringConstraints(pattern=shapes.TOKEN_PATTERN)]
    """The asset that arrives. The deposit fails if the wallet's network does not support the asset."""
    amount: PositiveAmount
    """The amount that arrives."""
    memo: FreeText | None = None
    """The memo of a deposit on stellar.

    The default is the correct memo. With an empty string, the deposit has no memo.
    """
    tx_hash: TxHash | None = None
    """The hash of the on-chain transaction. By default, a new hash is generated."""


class ConfirmationParameters(Body):
    confirmations: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """The new number of confirmations. By default, the current number plus one."""


class ReasonParameters(Body):
    reason: Note | None = None
    """The reason to record for the failure. The default is `rejected`."""


class LightningPaymentParameters(Body):
    amount_sats: Sats
    """The amount of the payment, in satoshi."""


ENTRIES: Mapping[str, type[EntryBody]] = {"lightning_address": CreateLightningAddress, "invoice": CreateInvoice}
