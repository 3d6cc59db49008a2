"""The recipes of `rampsim recipe`, run as on the machines for which they are written."""
