"""Triggers: calls that create the ramp's objects, and the steps that lead to their events."""
