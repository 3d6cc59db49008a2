"""Exhaustive runs of `rampsim certify`: each flow's events are delivered in every order, up to --copies times each."""
