"""Where a simulator is found: its default address, and the path of its control interface."""

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8642
DEFAULT_URL = f"http://{DEFAULT_HOST}:{DEFAULT_PORT}"
CONTROL_BASE = "/_simulator"
