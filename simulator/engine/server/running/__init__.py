"""Runs worlds in real time: clock driver, publishing, chunked work and watched directories."""
