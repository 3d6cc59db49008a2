"""Loads scenario files from disk, and contains the library: the scenarios that a process has loaded, by name."""
