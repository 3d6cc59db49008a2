"""The ramp: its rooms, one per chapter of the specification, and shared modules. `provider.py` lists the rooms."""
