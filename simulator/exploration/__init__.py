"""Explore: an integrator's own tests under one fault at a time, judged by the simulator's books.

`sites` reads from a run without faults where something can go wrong, `catalogue` has what can, `plans` puts the two
together. `running` makes the runs: tests of pytest re-entered in workers (`within_pytest`), any other command in a
process each. `aftermath` is the same for both: what follows the test. `judging` compares what came of the money with
the run without faults, `report` tells it.
"""
