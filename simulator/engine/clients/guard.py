"""The check before a client sends anything. The check refuses untrusted hosts and live keys.

A request to a mistyped address, or with a key from the wrong shell, must never reach the real service. Every client of
the simulator calls this module. The command line starts with it, so it imports only the standard library.
"""

from __future__ import annotations

import hashlib
import ipaddress
import os
import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

HOSTS_VARIABLE = "SIMULATOR_ALLOW_HOSTS"
_DOCKER_HOSTS = ("host.docker.internal", "gateway.docker.internal", "host.containers.internal")
"""Host names at which a container reaches the machine that it runs on."""
_CHECKSUM_LENGTH = 6
_SHOWN_CHARACTERS = 4


class Refused(ValueError):
    """Raised for a request that clients refuse to send. The message states the problem and what to do."""


class ForeignHost(Refused):
    """Raised if a host is not trusted."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"{host} is not this machine, so nothing was sent. Clients connect only to loopback addresses and "
            f"host.docker.internal. If a simulator runs there, for example in another container, set "
            f"{HOSTS_VARIABLE}={host} (several hosts are separated by commas, and *.team.svc allows every host below "
            f"it), or use `rampsim --allow-host {host}`."
        )


class LiveKey(Refused):
    """Raised for a live key that was not issued by a simulator. The message shows only its first characters."""


def check_host(url: str) -> None:
    """Raise `ForeignHost` if the host of a URL is not trusted."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return
    if host is not None and not is_trusted(host):
        raise ForeignHost(host)


def is_trusted(host: str) -> bool:
    """Return True if a client may connect to a host. `host` does not include a port."""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost") or name in _DOCKER_HOSTS:
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        pass
    else:
        if address.is_loopback or address.is_unspecified:
            return True
    patterns = os.environ.get(HOSTS_VARIABLE, "").replace(",", " ").lower().split()
    return any(fnmatchcase(name, pattern.strip("[]")) for pattern in patterns)


def allow_hosts(names: tuple[str, ...]) -> None:
    """Trust more hosts in this process and in the processes that it starts."""
    if names:
        os.environ[HOSTS_VARIABLE] = ",".join(filter(None, (os.environ.get(HOSTS_VARIABLE, ""), *names)))


class LiveKeys:
    """The format of one service's live keys.

    The simulated production environment has live keys, too. They end with a checksum, so a client recognises them
    without a request to a server. By chance, one in sixteen million real keys also ends with a valid checksum.
    """

    def __init__(self, prefixes: Iterable[str], *, own: str, place: str, example: str) -> None:
        self._key = re.compile(rf"(?<![A-Za-z0-9])({'|'.join(map(re.escape, prefixes))})([A-Za-z0-9_-]+)")
        self._own = own
        """The part after the prefix in the keys of the world `default`. Users may append characters to such a key."""
        self._place = place
        """The environment that live keys belong to."""
        self._example = example
        """A live key of the world `default`."""

    def is_live(self, key: str) -> bool:
        """Return True if a string is a live key, including those issued by a simulator."""
        return self._key.fullmatch(key) is not None

    def is_real(self, key: str) -> bool:
        """Return True if a string is a live key that was not issued by a simulator."""
        found = self._key.fullmatch(key)
        return found is not None and not self._is_own(found[2])

    def _is_own(self, rest: str) -> bool:
        return rest.startswith(self._own) or with_checksum(rest) == rest

    def check(self, content: str, where: str) -> None:
        """Raise `LiveKey` if a string contains a real key. `where` names the input in the message."""
        for found in self._key.finditer(content):
            if not self._is_own(found[2]):
                shown = f"{found[1]}{found[2][:_SHOWN_CHARACTERS]}…"
                raise LiveKey(
                    f"{where} has the live key {shown}, which was not issued by a simulator. Nothing was sent, because "
                    "real keys move real money. Use the keys of a world (`rampsim worlds` shows them), in the "
                    f"{self._place} `{self._example}`. To test with a wrong key, use `{self._example}_wrong`. "
                    "If the key is real, remove it from this place."
                )

    def check_inputs(self, arguments: Iterable[str], variables: Mapping[str, str]) -> None:
        """Raise `LiveKey` if a program's arguments or the variables that configure a simulator contain a real key."""
        for argument in arguments:
            self.check(argument, "The command line")
        for name, value in variables.items():
            if name.startswith(("SIMULATOR_", "RAMPSIM_")):
                self.check(value, f"The variable {name}")


def with_checksum(key: str) -> str:
    """Replace the last characters of a key with a checksum of its other characters. Return the new key."""
    rest = key[:-_CHECKSUM_LENGTH]
    return rest + hashlib.sha256(b"a key of the simulator\x00" + rest.encode()).hexdigest()[:_CHECKSUM_LENGTH]
