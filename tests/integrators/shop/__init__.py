"""A small shop that sells and buys stablecoins through the service: an integration to read, to copy and to break.

`settings` is where it runs, `service` how it calls, `books` what it remembers, `shop` what it does with both, `app`
what customers and the service reach over HTTP. `careless` beside them has the mistakes that integrations really make.

    python -m tests.integrators.shop books       # one JSON line an order
    python -m tests.integrators.shop reconcile   # ask the service about everything that may have been missed
"""
