"""`rampsim capture`: a reverse proxy that records the traffic that it forwards."""
