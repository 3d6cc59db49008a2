"""`rampsim compare`: compares recorded traffic from the real service with the simulator, to correct assumptions."""
