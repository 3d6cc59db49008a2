"""What a world assumes otherwise: each alternative as it is seen over the interface."""
