"""The row types in which a service is declared: rooms, operations, events, errors, actions. Read these first."""
