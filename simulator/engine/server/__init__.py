"""Serves the API over HTTP: finds the world and the caller of each request, runs the checks in order, and advances the
clocks of the worlds.
"""
