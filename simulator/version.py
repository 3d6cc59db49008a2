"""The version of the package, at the bottom of it: whoever shows it needs no more of the package than this."""

__version__ = "0.1.0"
