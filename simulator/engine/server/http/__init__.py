"""HTTP on a connection: reading requests, writing answers, routing, allowed hosts."""
