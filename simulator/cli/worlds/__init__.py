"""Commands that inspect and control the worlds on a running server."""
