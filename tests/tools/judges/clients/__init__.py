"""One integration per generated client: a complete onramp, and the signed webhook that reports it.

Each program gets the simulator's address, listens on its own port, and prints one line of JSON with the states of the
transaction and of the object in the event. The states are read with the generated types, without casts.
"""
