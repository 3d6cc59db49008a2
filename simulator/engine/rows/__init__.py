"""The types with which a service is declared: rooms (packages), operations, events, errors and actions.

Read these first.
"""
