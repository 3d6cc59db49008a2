"""Runs scenarios without an integrator, and records them."""
