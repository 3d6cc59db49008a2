"""Clients of a running simulator, and which hosts and keys they refuse."""
