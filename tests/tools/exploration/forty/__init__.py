"""Forty small tests of an integrator, of the kinds that people write. Only explore runs them."""
