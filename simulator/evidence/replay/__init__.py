"""Replays a recording in the simulator or at the service, and decides assumptions with it."""
