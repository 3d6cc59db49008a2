"""The control API under /_simulator, with which a person, a test or the dashboard controls the simulator."""
