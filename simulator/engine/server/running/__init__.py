"""The parts of a server that run in real time: clock driver, publishing, chunked work and watched directories."""
