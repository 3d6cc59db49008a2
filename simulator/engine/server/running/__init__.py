"""Worlds in real time: clock driver, publishing, chunked work, watched folders."""
