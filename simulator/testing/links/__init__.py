"""Connections from a test to a simulator: over HTTP, or in the process of the test."""
