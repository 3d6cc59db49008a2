"""Analysis of an integrator's traffic: advice on the integration, and coverage of the contract."""
