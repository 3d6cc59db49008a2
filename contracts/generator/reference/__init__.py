"""The pages of the documentation's reference that are made from the code."""
