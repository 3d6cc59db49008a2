"""Scenario files on disk: those that ship, those of a folder, and the library of a process."""
