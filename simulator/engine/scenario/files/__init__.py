"""Scenario files on disk, and the library of a process."""
