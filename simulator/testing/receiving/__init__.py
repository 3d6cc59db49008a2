"""Webhook receivers in the test process."""
