"""Replicas that share one PostgreSQL database: ownership of worlds, and forwarding of requests to the owner."""
