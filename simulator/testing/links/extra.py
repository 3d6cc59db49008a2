"""The package that the extra `testing` installs, or an error that names the extra."""

from simulator.testing.errors import missing

try:
    import httpx as httpx
except ImportError as error:
    raise missing("httpx", "The test kit") from error
