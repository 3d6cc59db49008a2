"""Serves the API over HTTP: finds the world and caller, runs the checks in order, and drives the clocks."""
