"""Persistence of worlds: in a file for one server, or in a database that several replicas share."""
