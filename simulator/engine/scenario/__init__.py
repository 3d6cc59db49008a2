"""Scenario files: their language, playing them in a world, running them alone, where files come from."""
