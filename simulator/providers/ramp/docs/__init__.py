"""What the documentation says of the ramp: its rules, and request data that choose an outcome."""
