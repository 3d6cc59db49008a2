"""The runs of an exploration. Each runs pytest or another command in a world with a fault."""
