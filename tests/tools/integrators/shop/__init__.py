"""A small shop that sells and buys stablecoins through the service: an integration to read, copy and break.

`settings` contains the configuration, `service` makes the calls, `books` stores the orders, `shop` contains the logic,
and `app` is the HTTP interface for customers and for the service. `python -m tests.tools.integrators.shop` has the
commands. `careless` makes mistakes that are common in integrations.
"""
