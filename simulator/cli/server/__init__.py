"""Commands that start, wait for and open a server; its settings."""
