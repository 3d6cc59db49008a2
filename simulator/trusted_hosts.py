"""Which hosts a client of the simulator speaks to: this machine, and names that only a private network has.

A simulator that stands elsewhere has to be named in SIMULATOR_ALLOW_HOSTS, so that no slip sends what is meant for it
to a real service.
"""

from __future__ import annotations

import ipaddress
import os
import re
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

VARIABLE = "SIMULATOR_ALLOW_HOSTS"
_OF_CONTAINERS = ("host.docker.internal", "gateway.docker.internal", "host.containers.internal")
_SERVICE_NAME = re.compile(r"(?!0x)[a-z0-9_-]*[a-z_-][a-z0-9_-]*")
"""A name without a dot, as compose and Kubernetes give them; one of digits alone is an address."""


class ForeignHost(ValueError):
    """A host that is not trusted; the text says which, why it stops here, and what to do."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"{host} is not this machine, so nothing was sent: clients of the simulator speak to loopback, "
            f"host.docker.internal and names without a dot. If a simulator is there, say so: {VARIABLE}={host} "
            "(several with commas, * for anything), or `rampsim --allow-host`."
        )


def check(url: str) -> None:
    """ForeignHost for a URL whose host is not trusted; one without a host is left to whoever reads it."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return
    if host is not None and not is_trusted(host):
        raise ForeignHost(host)


def is_trusted(host: str) -> bool:
    """Whether a client may speak to a host, given without a port."""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost") or name in _OF_CONTAINERS:
        return True
    return _is_this_machine(name) or _SERVICE_NAME.fullmatch(name) is not None or _is_allowed(name)


def _is_this_machine(name: str) -> bool:
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _is_allowed(name: str) -> bool:
    """Whether it was named: by itself, or by a pattern."""
    named = os.environ.get(VARIABLE, "").replace(",", " ").lower().split()
    return any(fnmatchcase(name, one.strip("[]")) for one in named)


def allow(names: tuple[str, ...]) -> None:
    """Trust further hosts in this process and those that it starts."""
    if names:
        os.environ[VARIABLE] = ",".join(filter(None, (os.environ.get(VARIABLE, ""), *names)))
