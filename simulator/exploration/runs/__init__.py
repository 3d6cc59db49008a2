"""The runs of an exploration: processes of pytest or another command, each in a world with a fault."""
