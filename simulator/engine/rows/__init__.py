"""The types that declare a service: its packages (called rooms), operations, events, errors and actions.

Read these first.
"""
