"""Judges from outside: linters, a validating proxy and generated clients hold the contract and the simulator to it.

`make contract` installs what they need and runs them: Node from a Python wheel, npm packages by the names in npm.txt,
generators for Python, Go and Java from PyPI. The compilers for Go and Java, and what the verifiers in PHP and Ruby
run in, are Debian's packages in debian.txt; who has root installs them with `apt-get`. What a machine lacks is skipped
by name.
"""
