"""The pure core: time, identifiers, money, state tables, ledger, journal and store.

Imports the standard library only and touches nothing outside the process: no I/O, no wall clock, no
randomness of its own, no resource of the service.
"""
