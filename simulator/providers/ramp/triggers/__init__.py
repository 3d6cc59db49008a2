"""Triggers: calls that create the ramp's objects, and the steps that cause their events."""
