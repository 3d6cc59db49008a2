"""Webhook receivers in the process of the test."""
