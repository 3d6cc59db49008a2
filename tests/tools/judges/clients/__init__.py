"""One integration per generated client: an onramp to its end and the signed webhook that tells of it.

Each program gets the simulator's address, listens on a port of its own, and prints one line of JSON: the states that
the transaction and the object of the event are in. They are read by the generator's own types; nothing is cast.
"""
