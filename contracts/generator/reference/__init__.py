"""The reference pages of the documentation that are generated from the code."""
