"""Behaviour rules for money: quotes, ramps, balance, fees, orders, wallets, recurring payments, rounding."""
