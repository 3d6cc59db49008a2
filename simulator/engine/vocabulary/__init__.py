"""The rows of a provider, collected, and lookups that are derived from them."""
