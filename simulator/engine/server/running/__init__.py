"""Running worlds in real time: the driver of clocks, publishing, chunked work, watched folders."""
