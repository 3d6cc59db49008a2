"""A small shop that sells and buys stablecoins through the service: an integration to read, to copy and to break.

`settings` is where it runs, `service` how it calls, `books` what it remembers, `shop` what it does with both, `app`
what customers and the service reach over HTTP; `python -m tests.tools.integrators.shop` has its commands. `careless`,
beside them, makes the mistakes that integrations really make.
"""
