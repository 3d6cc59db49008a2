"""The ramp's part of the documentation: its rules, and request data that choose an outcome."""
