"""Records of a world: their storage, indexes, lists, and their form in saved documents."""
