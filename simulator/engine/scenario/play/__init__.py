"""Plays scenarios in a world: selects the rules that match an event, plans the steps of these rules, and carries out
due steps.
"""
