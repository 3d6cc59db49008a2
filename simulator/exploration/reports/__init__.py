"""What an exploration reports: tables, JSON, JUnit, the page, the receipt."""
