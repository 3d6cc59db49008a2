"""Laws about the account: authentication, profile, beneficiaries, webhooks, events."""
