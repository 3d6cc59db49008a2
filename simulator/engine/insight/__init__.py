"""What the traffic of a world tells about its integrator: advice on conduct, and how much of the contract it exercised.

Pure functions over a world's journal, store and tables; nothing here answers calls or changes a resource. The one thing
it keeps is a compact tally of calls (`count_entry`), because the journal of calls is bounded.
"""
