"""The contract: the interface written down by its own tables, for people and for tools."""
