"""Records in a world: their storage, indexes, lists, and their format in saved documents."""
