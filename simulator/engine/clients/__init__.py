"""Clients for a running simulator, and the check that refuses untrusted hosts and live keys."""
