"""Commands that start a server, wait for it or open it, and the server's settings."""
