"""HTTP on a connection: requests, responses, routing, accepted hosts."""
