"""Checks webhook URLs at registration, and the addresses of their hosts before every delivery (decision W3).

There are three policies: `public` (public HTTPS only), `local` (also http and https on this machine) and `any`. A URL
is refused if parsers disagree about it (user names, numeric hosts, backslashes, IDN), because it could look public to
this module but connect to a private address.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import TypeAlias

from simulator.kernel.dataclass import dataclass
from simulator.kernel.patterns import compile_late

DOCKER_HOST = "host.docker.internal"
MAX_LENGTH = 2048

Address: TypeAlias = "IPv4Address | IPv6Address"

_URL = compile_late(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<rest>[/?#].*)?", re.ASCII | re.DOTALL
)
_AUTHORITY = compile_late(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^:\[\]@]+)(?::(?P<port>[0-9]{0,5}))?", re.ASCII)
_LABEL = compile_late(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)
_PLAIN_IPV4 = compile_late(r"(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})", re.ASCII)
_NUMBER = compile_late(r"[0-9]+|0x[0-9a-f]*", re.ASCII)

_RANGES = "::/96 ::ffff:0:0/96 ::ffff:0:0:0/96 64:ff9b::/96 64:ff9b:1::/48 2001::/32 2002::/16"
_EMBEDDING_IPV4 = [IPv6Network(network) for network in _RANGES.split()]
"""IPv6 ranges that embed an IPv4 address: mapped, compatible, translated, NAT64, Teredo, 6to4."""

_ADVICE = (
    "between containers, start the simulator with --webhook-urls any (variable SIMULATOR_WEBHOOK_URLS=any), "
    "or give the world the setting webhook_urls: any"
)

_METADATA = (ip_address("169.254.169.254"), ip_address("fd00:ec2::254"), ip_address("fe80::a9fe:a9fe"))


@dataclass(frozen=True, slots=True)
class Target:
    """The parts of a URL. Scheme and host are in lower case."""

    scheme: str
    host: str
    address: Address | None
    """The host as an IP address, or None if it is a name."""
    port: int
    path: str
    """The path and the query, exactly as in the URL."""
    numeric: bool = False
    """True if the host is an IP address in any form other than four plain decimal numbers."""


def parse_url(url: str) -> Target:
    """Split an absolute http or https URL into its parts. Raise `ValueError` with the problem if it is not valid."""
    if not url or len(url) > MAX_LENGTH:
        raise ValueError(f"a URL must have 1 to {MAX_LENGTH} characters")
    if any(character <= " " or character > "~" or character in '\\"<>^`{|}' for character in url):
        raise ValueError("a URL must not contain spaces, control characters, backslashes or non-ASCII characters")
    match = _URL.fullmatch(url)
    if match is None:
        raise ValueError("it is not an absolute URL")
    scheme = match["scheme"].lower()
    if scheme not in ("http", "https"):
        raise ValueError(f"the scheme {scheme!r} is not https")
    if "@" in match["authority"]:
        raise ValueError("a webhook URL must not contain a user name or password")
    authority = _AUTHORITY.fullmatch(match["authority"])
    if authority is None:
        raise ValueError("the host or port is malformed")
    if authority["port"] and not 1 <= int(authority["port"]) <= 65535:
        raise ValueError("the port must be from 1 to 65535")
    host = authority["host"].lower()
    port = int(authority["port"] or (443 if scheme == "https" else 80))
    path = (match["rest"] or "").partition("#")[0]
    path = path if path.startswith("/") else f"/{path}"
    if host.startswith("["):
        try:
            return Target(scheme, host[1:-1], IPv6Address(host[1:-1]), port, path)
        except ValueError:
            raise ValueError(f"{host} is not an IPv6 address") from None
    host = host.removesuffix(".")
    labels = host.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        if _PLAIN_IPV4.fullmatch(host) is None:
            return Target(scheme, host, None, port, path, numeric=True)
        try:
            return Target(scheme, host, IPv4Address(host), port, path)
        except ValueError:
            raise ValueError(f"{host!r} is not an IPv4 address") from None
    if len(host) > 253 or any(_LABEL.fullmatch(label) is None for label in labels):
        raise ValueError(f"{host!r} is not a host name")
    return Target(scheme, host, None, port, path)


def check_url(url: str, policy: str) -> str | None:
    """Return the reason why a policy (`public`, `local` or `any`) refuses a URL, or None if the URL is allowed."""
    try:
        target = parse_url(url)
    except ValueError as error:
        return str(error)
    if policy == "any":
        return None
    why = _refused(target, policy)
    return None if why is None else f"{why}; {_ADVICE}"


def _refused(target: Target, policy: str) -> str | None:
    if target.numeric:
        return f"{target.host!r} is a numeric form of an address; use a name or four plain decimal numbers"
    here = policy == "local" and _is_here(target)
    if target.scheme != "https" and not here:
        return "only https is allowed" + (
            "" if policy == "public" else f" (http on loopback addresses, localhost and {DOCKER_HOST} only)"
        )
    if here:
        return None
    if target.address is not None:
        return check_address(target.address, policy, target.host)
    if "." not in target.host:
        return f"{target.host!r} has no dot; only full host names are reachable from outside"
    if target.host.endswith((".local", ".localhost", ".internal")):
        hint = f" (from a container, the machine itself is {DOCKER_HOST})" if policy == "local" else ""
        return f"{target.host!r} is a name of a private network{hint}"
    return None


def _is_here(target: Target) -> bool:
    if target.address is not None:
        return _is_loopback(target.address)
    return target.host == DOCKER_HOST or is_localhost(target.host)


def is_localhost(host: str) -> bool:
    """Return True for `localhost` and its subdomains, which always mean this machine."""
    return host == "localhost" or host.endswith(".localhost")


def _is_loopback(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return address.is_loopback
    return address == IPv6Address("::1")


def check_address(address: Address | str, policy: str, host: str) -> str | None:
    """Return the reason why a policy refuses a host at an address, literal or resolved, or None if it is allowed."""
    if isinstance(address, str):
        address = ip_address(address.partition("%")[0])
    if policy == "any":
        return None
    host = host.lower().removesuffix(".")
    loopback = _is_loopback(address)
    if policy == "local":
        if loopback:
            return None
        if host == DOCKER_HOST and address.is_private and not _is_reserved(address):
            return None
        if is_localhost(host):
            return f"{host} resolves to {address}, which is not this machine"
    kind = _kind_of(address)
    return None if kind is None else f"{address} is {kind}, not a public address"


def _is_reserved(address: Address) -> bool:
    return (
        address.is_link_local
        or address.is_multicast
        or address.is_unspecified
        or address in _METADATA
        or (isinstance(address, IPv6Address) and _embeds_ipv4(address))
    )


def _embeds_ipv4(address: IPv6Address) -> bool:
    return any(address in network for network in _EMBEDDING_IPV4)


def _kind_of(address: Address) -> str | None:
    if address in _METADATA:
        return "the address of a metadata service"
    if _is_loopback(address):
        return "a loopback address"
    if isinstance(address, IPv6Address) and (_embeds_ipv4(address) or address.is_site_local):
        return "an address that embeds another one"
    if address.is_link_local:
        return "a link-local address"
    if address.is_multicast or address.is_unspecified or not address.is_global:
        return "a private or reserved address"
    return None


def is_on_this_machine(url: str) -> bool:
    """Return True if a URL refers to this machine: loopback, localhost, or the name a container uses for it."""
    try:
        return _is_here(parse_url(url))
    except ValueError:
        return False
