"""The ramp: its rooms, one per chapter of the specification, and what they share. `provider.py` lists the rooms."""
