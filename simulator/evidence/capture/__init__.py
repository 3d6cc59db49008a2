"""`rampsim capture`: a reverse proxy that records what passes through it."""
