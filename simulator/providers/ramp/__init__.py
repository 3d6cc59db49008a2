"""The ramp and wallet API: one package for each section of the specification, plus shared modules.

`provider.py` lists the packages.
"""
