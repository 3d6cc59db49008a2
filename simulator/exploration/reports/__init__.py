"""Reports on an exploration: tables, JSON, JUnit, an HTML page, and the receipt (the command, seed, version and results
of the exploration).
"""
