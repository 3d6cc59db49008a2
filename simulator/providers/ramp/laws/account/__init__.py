"""Behaviour rules for the account: authentication, profile, beneficiaries, webhooks, events."""
