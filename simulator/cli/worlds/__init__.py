"""Commands that look at and steer the worlds of a running server."""
