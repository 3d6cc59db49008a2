"""The types with which a service is declared: rooms, operations, events, errors and actions. Read these first."""
