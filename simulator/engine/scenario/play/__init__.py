"""Plays scenarios in a world: selects rules for an event, plans their steps, and carries out due steps."""
