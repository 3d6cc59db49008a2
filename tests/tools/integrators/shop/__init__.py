"""A small shop that sells and buys stablecoins through the service: an integration to read, copy and break.

`settings` contains the configuration, `service` makes the calls, `books` stores the orders, `shop` contains the logic,
`app` is the HTTP interface, and `__main__` has the commands. `careless` and `seeded` contain mistakes.
"""
