"""The published contract of the API."""
