"""Assessment of a run: evidence from its worlds, verdicts, causes of findings."""
