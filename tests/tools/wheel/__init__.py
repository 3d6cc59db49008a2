"""What the built wheel does in an environment of its own, away from the checkout (`make wheel-check`)."""
