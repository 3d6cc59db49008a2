"""Servers that tests start or share."""
