"""Metrics and OpenTelemetry spans of a server."""
