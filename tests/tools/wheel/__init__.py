"""Checks of the built wheel in a separate environment, away from the checkout (`make wheel-check`)."""
