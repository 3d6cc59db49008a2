"""Serves the API over HTTP: finds the world and the caller of each request, runs the checks in a fixed sequence, and
advances the clocks of the worlds.
"""
