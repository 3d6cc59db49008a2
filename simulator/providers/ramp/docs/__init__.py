"""The ramp's part of the documentation: its rules, and the test values that select an outcome."""
