"""Faults that can be injected: the models that validate them, the active faults, and the changes that they make to a
response.
"""
