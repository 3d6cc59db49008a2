"""What partners' own tests are made of: `strategies` for property tests. The simulator itself needs none of it."""
