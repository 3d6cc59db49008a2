"""Loads scenario files from disk. The library contains the scenarios that a process has loaded, by name."""
