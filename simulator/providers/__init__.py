"""The simulated services. Only `simulator.host` imports one."""
