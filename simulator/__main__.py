"""`python -m simulator` is the command `rampsim`."""

from simulator.cli import main

if __name__ == "__main__":
    main()
