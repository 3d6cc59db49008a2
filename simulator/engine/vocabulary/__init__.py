"""Collects the declarations of a provider, and derives lookups from them."""
