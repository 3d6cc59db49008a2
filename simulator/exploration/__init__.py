"""Explore: run an integrator's own tests under one fault at a time, and check each run against the simulator's
ledger.

`sites` analyzes a run without faults and finds the calls, deliveries and transactions in which a fault can be injected.
`catalogue` lists the fault classes, and `plans` combines sites and fault classes. `runs` executes the plan: pytest
tests run inside worker processes (`within_pytest`), and any other command runs in one process for each run. `aftermath`
is the phase after each test. `judgement` compares the amounts of money in a run with the run without faults. `reports`
writes the results to files.
"""
