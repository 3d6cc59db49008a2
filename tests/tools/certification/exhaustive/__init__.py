"""Exhaustive runs of certify, the recommended handler, and popular shortcuts."""
