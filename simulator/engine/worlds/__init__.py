"""Whole worlds: the simulator that contains them, their settings, assumptions and quotas."""
