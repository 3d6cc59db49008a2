"""Evidence: observations of the real service, which show whether the simulator's assumptions are correct."""
