"""The ways to the events of the ramp: how objects are made, and moves that take more than one call or timer."""
