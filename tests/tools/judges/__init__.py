"""External judges: linters, a validating proxy and generated clients check the contract and the simulator.

`make contract` installs their dependencies and runs them: Node from a Python wheel, npm packages listed in npm.txt,
generators for Python, Go and Java from PyPI. The compilers for Go and Java, and the PHP and Ruby interpreters for the
verifiers, are Debian packages listed in debian.txt, which root can install with `apt-get`. A judge that is missing on a
machine is skipped, and the output names it.
"""
