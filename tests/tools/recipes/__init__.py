"""The recipes that `rampsim recipe` hands out, run as the machines they are for would run them."""
