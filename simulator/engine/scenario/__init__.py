"""Scenarios: the scenario language, the engine that plays scenarios in a world, the runner, and the scenario files."""
