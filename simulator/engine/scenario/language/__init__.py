"""The language of scenario files: parsing, models, and what is wrong with a file."""
