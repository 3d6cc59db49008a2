"""The control interface under /_simulator: how a person, a test or a dashboard steers the simulator and sees inside."""
