"""Keeping worlds: across restarts in a file, and between several replicas in a database."""
