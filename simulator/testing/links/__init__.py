"""Connections from a test to a simulator: over HTTP, or within the test process."""
