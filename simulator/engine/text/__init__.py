"""Strings in requests, responses and files: JSON, YAML, request fields, schema formats, masking."""
