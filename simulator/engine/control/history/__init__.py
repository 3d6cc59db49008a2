"""Control calls about past activity: journals, events, timeline and search."""
