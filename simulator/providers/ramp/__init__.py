"""The rooms, one per chapter of the specification, in the order in which they may import each other."""

ORDER = (
    "reference",
    "profile",
    "auth",
    "beneficiaries",
    "fees",
    "transactions",
    "ramps",
    "deposit_wallets",
    "balance",
    "recurring",
    "history",
)
"""A room imports only rooms that stand before it, and only what their `__init__` exports."""
