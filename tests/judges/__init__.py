"""Judges from outside: linters, a validating proxy and a generated client hold the contract and the simulator to it.

`make contract` installs what they need (Node from a Python wheel, npm packages by the names in npm.txt) and runs them.
"""
