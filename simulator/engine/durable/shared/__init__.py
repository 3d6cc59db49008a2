"""Replicas that share one PostgreSQL database: ownership of worlds, and calls passed on to their owner."""
