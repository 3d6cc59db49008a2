"""A simulator of a stablecoin ramp and wallet service. The package name on the command line is `rampsim`."""

__version__ = "0.1.0"
