"""Whole worlds: the simulator that holds them, their settings, assumptions and quotas."""
