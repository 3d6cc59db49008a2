"""Exhaustive runs of `rampsim certify`, which deliver each flow's events in every sequence."""
