"""The simulated services. Only `simulator.host` and `simulator.service` import one."""
