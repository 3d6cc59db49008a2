"""The simulated services. Only `simulator.host` imports a service."""
