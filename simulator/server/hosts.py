"""Which `Host` and `Origin` a server on a loopback address answers to.

A web page in the user's browser can reach loopback, under its own name (DNS rebinding) or with its own origin. The
browser says both names; so a server on loopback answers its own names only.
"""

from __future__ import annotations

import ipaddress
import re

from starlette.types import Scope

_HOST = re.compile(
    r"(?P<name>\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?)(?::(?P<port>[0-9]{1,5}))?"
)
_HIGHEST_PORT = 65535
_REMEMBERED = 64
"""So many `Host` headers that were right are known again without being read: a client sends the same one always."""


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine only."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def host_name(header: str) -> str | None:
    """The name in a `Host` header in lower case, IPv6 addresses in brackets; None for anything but name[:port]."""
    found = _HOST.fullmatch(header)
    if found is None or (found["port"] is not None and int(found["port"]) > _HIGHEST_PORT):
        return None
    name = found["name"].lower()
    if name.startswith("["):
        try:
            ipaddress.IPv6Address(name[1:-1])
        except ValueError:
            return None
    return name


class Hosts:
    """The names that a server answers to. `open_to_all`: it is bound beyond loopback, where names prove nothing.

    The scope says under which address the server below was reached. Behind a socket that is an
    address of this machine, which no name in a `Host` header equals; in process it is the name that the caller chose.
    """

    def __init__(self, allowed: tuple[str, ...] = (), *, open_to_all: bool = False) -> None:
        self._allowed = frozenset(name.lower() for name in allowed)
        self._open_to_all = open_to_all
        self._answered: set[bytes] = set()

    def refusal(self, scope: Scope) -> str | None:
        """Why the request of a scope is not answered because of its `Host` headers, None when it is."""
        named: list[bytes] = [value for name, value in scope["headers"] if name.lower() == b"host"]
        if len(named) == 1 and named[0] in self._answered:
            return None
        given = [value.decode("latin-1") for value in named]
        if self._open_to_all or (not given and scope.get("http_version") == "1.0"):
            return None
        if len(given) != 1:
            return "The request must name its host in one Host header."
        name = host_name(given[0])
        if name is None:
            return f"The Host header {given[0][:100]!r} is not a host name or address with an optional port."
        if is_loopback(name) or name in self._allowed:
            if len(self._answered) < _REMEMBERED:
                self._answered.add(named[0])
            return None
        server = scope.get("server")
        if server and name == server[0].lower():
            return None
        return (
            f"This server listens on a loopback address and answers to loopback names only, not to {name!r}; "
            "--allowed-host adds a name."
        )
