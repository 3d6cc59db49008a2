"""Which URLs and addresses may receive webhooks (decision W3)."""

from __future__ import annotations

import pytest

from simulator.engine.webhooks.urls import check_address, check_url, is_on_this_machine

PUBLIC = (
    "https://example.com",
    "https://example.com/",
    "HTTPS://Example.COM/hooks?x=1#top",
    "https://hooks.example.co.ke:8443/a/b",
    "https://xn--bcher-kva.example/hook",
    "https://example.com./hook",
    "https://93.184.216.34/hook",
    "https://[2606:2800:220:1:248:1893:25c8:1946]/hook",
)
HERE = (
    "http://localhost:9000/hook",
    "https://localhost/hook",
    "http://LOCALHOST:9000",
    "http://app.localhost:9000/",
    "http://127.0.0.1:9000/hook",
    "https://127.8.9.10/hook",
    "http://[::1]:9000/hook",
    "http://[0:0:0:0:0:0:0:1]/hook",
    "http://host.docker.internal:9000/hook",
)
FORBIDDEN = (
    "https://10.0.0.1/hook",
    "https://172.16.0.1/hook",
    "https://192.168.1.10/hook",
    "https://169.254.1.1/hook",
    "https://169.254.169.254/latest/meta-data",
    "https://100.64.0.1/hook",
    "https://0.0.0.0/hook",
    "https://224.0.0.1/hook",
    "https://255.255.255.255/hook",
    "https://[fe80::1]/hook",
    "https://[fc00::1]/hook",
    "https://[fd00:ec2::254]/latest",
    "https://[::]/hook",
    "https://[ff02::1]/hook",
    "https://[::ffff:10.0.0.1]/hook",
    "https://[::ffff:127.0.0.1]/hook",
    "https://[::ffff:7f00:1]/hook",
    "https://[::7f00:1]/hook",
    "https://[64:ff9b::a00:1]/hook",
    "https://[2002:a00:1::1]/hook",
    "https://2130706433/hook",
    "https://0x7f000001/hook",
    "https://0x7f.1/hook",
    "https://127.1/hook",
    "https://0177.0.0.1/hook",
    "https://010.0.0.1/hook",
    "https://127.0.0.01/hook",
    "https://256.1.1.1/hook",
    "https://1.2.3.4.5/hook",
    "https://printer.local/hook",
    "https://intranet/hook",
    "https://metadata.google.internal/hook",
)
MALFORMED = (
    "",
    " ",
    "hook",
    "/hook",
    "//example.com/hook",
    "example.com/hook",
    "https:example.com",
    "https://",
    "https:///hook",
    "https://?x",
    "https://:443/hook",
    "https://example.com:0/hook",
    "https://example.com:65536/hook",
    "https://example.com:port/hook",
    "https://example.com:443:443/hook",
    "https://user@example.com/hook",
    "https://user:secret@example.com/hook",
    "https://example.com@10.0.0.1/hook",
    "https://exa mple.com/hook",
    "https://example.com/a b",
    "https://example.com\\@10.0.0.1/hook",
    "https://example.com\n/hook",
    "https://example.com/\x00",
    "https://bücher.example/hook",
    "https://１２７.０.０.１/hook",
    "https://127%2e0%2e0%2e1/hook",
    "https://-example.com/hook",
    "https://example..com/hook",
    "https://[::1/hook",
    "https://[::g]/hook",
    "https://[1::2::3]/hook",
    "https://[::1.2.3]/hook",
    "https://[fe80::1%25eth0]/hook",
    "ftp://example.com/hook",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "https://" + "a" * 64 + ".example/hook",
    "https://example.com/" + "a" * 2048,
)


@pytest.mark.parametrize("url", PUBLIC)
@pytest.mark.parametrize("policy", ["public", "local", "any"])
def test_public_https_urls_are_allowed_under_every_policy(url: str, policy: str) -> None:
    assert check_url(url, policy) is None


@pytest.mark.parametrize("url", HERE)
def test_this_machine_is_allowed_under_local_only(url: str) -> None:
    """Decision W3."""
    assert check_url(url, "local") is None
    assert check_url(url, "any") is None
    assert check_url(url, "public") is not None


@pytest.mark.parametrize("url", FORBIDDEN)
@pytest.mark.parametrize("policy", ["public", "local"])
def test_private_and_disguised_hosts_are_refused(url: str, policy: str) -> None:
    """Decision W3."""
    assert check_url(url, policy) is not None


@pytest.mark.parametrize("url", ["http://example.com/hook", "http://93.184.216.34/hook"])
def test_plain_http_to_the_public_is_refused(url: str) -> None:
    assert check_url(url, "public") is not None
    assert check_url(url, "local") is not None
    assert check_url(url, "any") is None


@pytest.mark.parametrize("url", ["http://10.0.0.1/hook", "http://receiver:8080/hook", "http://169.254.169.254/"])
def test_any_allows_private_hosts(url: str) -> None:
    assert check_url(url, "any") is None


@pytest.mark.parametrize("url", MALFORMED)
@pytest.mark.parametrize("policy", ["public", "local", "any"])
def test_malformed_urls_are_refused_under_every_policy(url: str, policy: str) -> None:
    assert check_url(url, policy) is not None


@pytest.mark.parametrize(
    ("address", "host", "public", "local"),
    [
        ("93.184.216.34", "example.com", True, True),
        ("2606:2800:220:1:248:1893:25c8:1946", "example.com", True, True),
        ("127.0.0.1", "localhost", False, True),
        ("::1", "localhost", False, True),
        ("127.0.0.1", "rebind.example.com", False, True),
        ("10.0.0.1", "localhost", False, False),
        ("93.184.216.34", "app.localhost", True, False),
        ("192.168.65.254", "host.docker.internal", False, True),
        ("172.17.0.1", "host.docker.internal", False, True),
        ("fdc4:f303:9324::254", "host.docker.internal", False, True),
        ("169.254.169.254", "host.docker.internal", False, False),
        ("10.0.0.1", "rebind.example.com", False, False),
        ("169.254.169.254", "rebind.example.com", False, False),
        ("fd00:ec2::254", "rebind.example.com", False, False),
        ("fe80::1%eth0", "rebind.example.com", False, False),
        ("::ffff:10.0.0.1", "rebind.example.com", False, False),
        ("fec0::1", "rebind.example.com", False, False),
        ("0.0.0.0", "rebind.example.com", False, False),
        ("239.1.1.1", "rebind.example.com", False, False),
    ],
)
def test_an_address_is_checked_for_its_policy(address: str, host: str, public: bool, local: bool) -> None:
    """Decision W3: also when a name resolves to such an address."""
    assert (check_address(address, "public", host) is None) is public
    assert (check_address(address, "local", host) is None) is local
    assert check_address(address, "any", host) is None


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://localhost:1/", True),
        ("http://127.0.0.1/", True),
        ("http://host.docker.internal/", True),
        ("https://example.com/", False),
        ("nonsense", False),
    ],
)
def test_urls_of_this_machine_are_known(url: str, expected: bool) -> None:
    assert is_on_this_machine(url) is expected
