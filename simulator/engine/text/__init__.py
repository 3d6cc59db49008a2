"""Strings on the wire and in files: JSON, YAML, request fields, schema formats, masking."""
