"""The control API under `/_simulator`. A person, a test or the dashboard controls the simulator with it."""
