"""Handles HTTP connections: requests, responses, routing, and the host names that a server accepts."""
