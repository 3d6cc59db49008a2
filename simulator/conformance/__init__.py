"""`rampsim conform`: checks any server that implements the API. schemathesis is an optional dependency."""
