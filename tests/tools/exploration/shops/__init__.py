"""The sample integrator's tests as explore runs them, and its two commands; not collected here."""
