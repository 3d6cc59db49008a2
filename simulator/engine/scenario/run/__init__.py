"""Runs scenarios without an integrator, and records calls as scenario files."""
