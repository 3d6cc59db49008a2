"""The language of scenario files: parsing, models and checks."""
