"""The reference page: the contract for people, as one HTML document."""
