"""The sample integrator's tests, which explore runs, and its two commands. pytest does not collect them here."""
