"""How `trigger` creates objects of the ramp and reaches its events."""
