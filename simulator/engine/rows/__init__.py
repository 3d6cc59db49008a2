"""The types that declare a service: rooms, operations, events, errors, actions. Read this package first."""
