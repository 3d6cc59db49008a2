"""Scenarios: the scenario language, the engine that plays them in a world, the runner, and the scenario files."""
