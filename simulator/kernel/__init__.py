"""The pure core: time, identifiers, money, state tables, ledger, journal and store.

It imports the standard library only and touches nothing outside the process: no I/O, no wall clock, no unseeded
randomness, no resource of the service.
"""
