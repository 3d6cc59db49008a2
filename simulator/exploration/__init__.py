"""Explore: runs an integrator's own tests under one fault at a time, and checks each run against the ledger."""
