"""Triggers: the creation of ramp objects, and the paths to their events."""
