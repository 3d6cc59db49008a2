"""Explore: run an integrator's own tests under one fault at a time and judge each run by the simulator's ledger.

`sites` finds in a run without faults where something can go wrong. `catalogue` lists the fault classes, and `plans`
combines the two. `runs` executes them: pytest tests inside worker processes (`within_pytest`), any other command in a
process for each run. `aftermath` is the part after each test. `judgement` compares the money with the run without
faults, and `reports` publishes the result.
"""
