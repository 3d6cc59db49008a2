"""The simulated services. Outside this package, only `simulator.host` and `simulator.service` import a service."""
