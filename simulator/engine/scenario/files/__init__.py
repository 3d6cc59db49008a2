"""Loads scenario files from disk, and holds the library of scenarios of a process."""
