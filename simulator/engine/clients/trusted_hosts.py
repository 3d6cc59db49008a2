"""Which hosts a client of the simulator speaks to: this machine, and no other that was not named.

A simulator that stands elsewhere has to be named in SIMULATOR_ALLOW_HOSTS, so that no slip sends what is meant for it
to a real service.
"""

from __future__ import annotations

import ipaddress
import os
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

VARIABLE = "SIMULATOR_ALLOW_HOSTS"
_OF_CONTAINERS = ("host.docker.internal", "gateway.docker.internal", "host.containers.internal")
"""What a container calls the machine that it runs on."""


class ForeignHost(ValueError):
    """A host that is not trusted; the text says which, why it stops here, and what to do."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"{host} is not this machine, so nothing was sent: a simulator is expected on loopback or at "
            f"host.docker.internal. If one is there, as between containers, say so: {VARIABLE}={host} (several with "
            f"commas, *.team.svc for all below), or `rampsim --allow-host {host}`."
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
    return _is_this_machine(name) or _is_allowed(name)


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
