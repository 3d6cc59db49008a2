"""Handles HTTP connections: requests, responses, routing and accepted hosts."""
