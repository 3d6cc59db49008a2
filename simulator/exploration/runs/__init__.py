"""The runs of an exploration. Each run executes a pytest test or another command in a world with a fault."""
