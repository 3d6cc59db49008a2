"""Forty small tests of an integrator, of the sorts that people write; explore runs them, and nobody else does."""
