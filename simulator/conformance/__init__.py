"""`rampsim conform`: checks any server that implements the API, with behaviour rules (laws) and with schemathesis.

schemathesis is an optional dependency.
"""
