"""A simulation of the ownership protocol: replicas, clients, a database and unreliable networks, all derived from one
seed.
"""
