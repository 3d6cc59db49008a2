"""The ramp API: one package for each section of the specification (see `provider.py`), and shared modules."""
