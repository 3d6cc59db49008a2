"""Collects the rows of a provider, and derives lookups from them."""
