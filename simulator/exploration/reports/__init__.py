"""Reports of an exploration: tables, JSON, JUnit, the HTML page, the receipt."""
