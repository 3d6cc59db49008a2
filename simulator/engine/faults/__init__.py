"""Faults that can be injected: their models, the active faults, and how they change a response."""
