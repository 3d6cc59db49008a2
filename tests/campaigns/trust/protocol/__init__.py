"""The ownership protocol as it is simulated: replicas, clients, a database, networks that fail, all of one seed."""
