"""Running scenarios without an integrator, and recording them."""
