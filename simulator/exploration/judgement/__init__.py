"""Assessment of runs: collects evidence from a run's worlds, determines the verdict, and groups findings by cause."""
