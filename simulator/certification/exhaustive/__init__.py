"""Exhaustive runs of `rampsim certify`: every order and multiplicity of a flow's deliveries."""
