"""The pure core: time, identifiers, money, state tables, ledger, journal and store.

It imports only the standard library, does no I/O, and contains nothing that is specific to the simulated service.
"""
