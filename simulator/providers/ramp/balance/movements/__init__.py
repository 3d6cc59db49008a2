"""What an account does with its balance: buys, swaps, withdraws and sends."""
