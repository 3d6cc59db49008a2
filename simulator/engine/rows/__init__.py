"""The types that declare a service: its packages (called rooms), operations, events, errors and actions.

If you are new to the engine, read this package first.
"""
