"""The operations that spend or credit the balance: buy, swap, withdraw and send."""
