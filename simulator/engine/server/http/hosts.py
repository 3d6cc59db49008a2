"""The `Host` and `Origin` headers that a server on a loopback address accepts.

A web page in the user's browser can send requests to a loopback address from its own origin, or under its own host name
(DNS rebinding). The browser sends the origin and the host name as headers. A server on a loopback address accepts only
its own names in these headers.
"""

from __future__ import annotations

import ipaddress
import re

from starlette.types import Scope

from simulator.engine.server.http.messages import Headers, headers_of

_HOST = re.compile(
    r"(?P<name>\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?)(?::(?P<port>[0-9]{1,5}))?"
)
_HIGHEST_PORT = 65535
_OTHER_SITES = frozenset({b"cross-site", b"same-site"})
"""The `Sec-Fetch-Site` values of pages of other origins. `same-site` includes other ports of this machine."""
_CACHED = 64
"""The maximum number of accepted `Host` headers to cache. A client always sends the same header."""


def is_loopback(host: str) -> bool:
    """Return True if `host` is `localhost` or a loopback address."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def host_name(header: str) -> str | None:
    """Return the lower-case host name in a `Host` header (IPv6 in brackets), or None if it is not name[:port]."""
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


def own_origin(scope: Scope) -> str:
    """Return the origin under which a request reached this server, taken from its `Host` header."""
    host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "127.0.0.1")
    return f"{scope.get('scheme', 'http')}://{host}"


def is_of_a_page(scope: Scope) -> bool:
    """Return True if a web page may have sent a request, because browsers state the origin in one of its headers."""
    headers = headers_of(scope)
    return "origin" in headers or "sec-fetch-site" in headers


def is_embedded_elsewhere(scope: Scope) -> bool:
    """Return True if a page of another origin embeds or sends the request, rather than a link that a user opens."""
    said = {name: value for name, value in scope["headers"] if name.startswith(b"sec-fetch-")}
    return said.get(b"sec-fetch-site") in _OTHER_SITES and said.get(b"sec-fetch-mode") != b"navigate"


class Hosts:
    """Checks whether a server accepts the `Host` and `Origin` headers of requests.

    `allowed` are additional host names. `origins` are additional origins whose web pages may call the API.
    `open_to_all` is True for a server that listens on a non-loopback address. Such a server accepts all names.
    """

    def __init__(
        self, allowed: tuple[str, ...] = (), *, origins: tuple[str, ...] = (), open_to_all: bool = False
    ) -> None:
        self._allowed = frozenset(name.lower() for name in allowed)
        self._origins = frozenset(origin.lower() for origin in origins)
        self._open_to_all = open_to_all
        self._accepted: set[bytes] = set()

    def refusal(self, scope: Scope) -> str | None:
        """Return the reason why a request's `Host` headers are refused, or None if they are accepted."""
        named = headers_of(scope).hosts
        if len(named) == 1 and named[0] in self._accepted:
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
            if len(self._accepted) < _CACHED:
                self._accepted.add(named[0])
            return None
        # On a socket, `server` is an address of this machine, and no valid host name equals it. If the application is
        # called in process, `server` is the name that the caller chose.
        server = scope.get("server")
        if server and name == server[0].lower():
            return None
        return (
            f"This server listens on a loopback address and accepts loopback names only, not {name!r}. "
            "--allowed-host adds a name."
        )

    def api_refusal(self, scope: Scope) -> str | None:
        """Return the reason why the headers of an API call are refused, or None. Results are cached."""
        headers = headers_of(scope)
        if self.know(headers):
            return None
        refusal = self.refusal(scope) or self.page_refusal(scope)
        if (
            refusal is None
            and len(headers.hosts) == 1
            and headers.hosts[0] in self._accepted
            and not is_of_a_page(scope)
        ):
            headers.accepted_by = self
        return refusal

    def know(self, headers: Headers) -> bool:
        """Return True if this object has already accepted an API call with these headers."""
        return headers.accepted_by is self

    def page_refusal(self, scope: Scope) -> str | None:
        """Return the reason why a web page's request is refused, or None if the request is accepted.

        A request that does not come from a page is accepted. Browsers omit `Origin` in a GET whose response the page
        cannot read, but they send `Sec-Fetch-Site`.
        """
        if self._open_to_all or not is_of_a_page(scope):
            return None
        origins = [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]
        own = own_origin(scope).lower()
        for origin in origins:
            if origin.lower() != own and origin.lower() not in self._origins:
                return (
                    f"This server listens on a loopback address and does not accept web pages of other origins: "
                    f"{origin[:100]!r} is not {own[:100]!r}. --allow-origin adds an origin."
                )
        sites = {value for name, value in scope["headers"] if name == b"sec-fetch-site"}
        if not origins and not sites.isdisjoint(_OTHER_SITES):
            return "This server listens on a loopback address and does not accept web pages of other origins."
        return None
