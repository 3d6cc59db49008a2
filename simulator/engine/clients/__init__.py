"""Clients for a running simulator, and a check that refuses to connect to untrusted hosts or to send live keys."""
