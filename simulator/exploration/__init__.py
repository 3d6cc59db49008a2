"""Explore: run an integrator's own tests under one fault at a time, and check each run against the simulator's
ledger.

`sites` analyzes a run without faults and finds the places where something can go wrong. `catalogue` lists the fault
classes, and `plans` combines sites and fault classes. `runs` executes the plan: pytest tests run inside worker
processes (`within_pytest`), and any other command runs in one process for each run. `aftermath` is the phase after
each test. `judgement` compares the money with the run without faults, and `reports` publishes the result.
"""
