"""Reports of an exploration: tables, JSON, JUnit, the HTML page, and the receipt (command, seed, version and result of
the run).
"""
