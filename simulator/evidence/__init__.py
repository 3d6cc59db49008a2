"""Evidence: observations of the real service, and the assumptions that they decide."""
