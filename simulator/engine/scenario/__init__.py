"""Scenarios: the language, playing them in a world, running them alone, and their files."""
