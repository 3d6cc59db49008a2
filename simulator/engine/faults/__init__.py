"""Faults that can be injected: their models, those in force, and how they change an answer."""
