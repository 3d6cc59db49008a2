"""The API over HTTP: world and caller, checks in order, running clocks."""
