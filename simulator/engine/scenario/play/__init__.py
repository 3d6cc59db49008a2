"""Plays scenarios in a world: selects the rules that match, plans their steps, and carries out due steps."""
