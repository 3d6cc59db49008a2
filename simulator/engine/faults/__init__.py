"""Faults that users inject: models, active faults, and changes of bodies."""
