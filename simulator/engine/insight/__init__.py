"""Insight into an integration by its traffic: advice on its conduct, and coverage of the contract."""
