"""Evidence: observations of the real service, which show whether the assumptions are right."""
