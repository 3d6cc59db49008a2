"""Reports on an exploration."""
