"""Conformance runs: any server that claims to speak the interface, held against the contract by schemathesis.

It runs schemathesis with `contracts/schemathesis.toml` against the simulator or against any base URL and reports what
was called, what came back and what is not as written. schemathesis is an optional dependency.
"""
