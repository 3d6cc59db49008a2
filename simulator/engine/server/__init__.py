"""The HTTP shell: it finds world and caller, goes through the order of checks, and keeps running clocks up to date."""
