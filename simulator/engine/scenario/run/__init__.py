"""Running a scenario without an integrator: its drive, its expectations, and recording one."""
