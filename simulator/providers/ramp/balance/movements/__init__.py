"""Operations on the balance: buy, swap, withdraw and send."""
