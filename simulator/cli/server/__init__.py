"""Commands that start a server, wait for one, open it, and its settings."""
