"""Control calls about what happened: journal, calls, events, timeline, search."""
