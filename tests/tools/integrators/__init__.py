"""Applications as partners write them, and their tests with the test kit."""
