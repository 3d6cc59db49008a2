"""Evidence: making the simulator agree with the real service."""
