"""The pure core: time, identifiers, money, state tables, ledger, journal and store.

It imports only the standard library and uses nothing outside the process: no I/O, no wall clock, no unseeded
randomness. It contains nothing that is specific to the simulated service.
"""
