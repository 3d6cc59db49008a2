"""`rampsim conform`: checks any server that claims to implement the API, with laws and schemathesis.

schemathesis is an optional dependency.
"""
