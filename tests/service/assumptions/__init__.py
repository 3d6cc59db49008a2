"""Alternative assumptions of a world, as visible over the API."""
