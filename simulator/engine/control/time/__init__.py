"""Control calls about the clock and its timers."""
