"""The synchronous client: it reuses a connection, but never for a request that would get another's response."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing
from threading import Barrier, Thread

import pytest

from simulator.engine.clients.guard import LiveKey, LiveKeys
from simulator.engine.clients.synchronous import NoResponse, SyncClient

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"


class Server:
    """Answers so many calls on a connection, and then ends it. `taken`: how many connections there were."""

    def __init__(self, calls_each: int, answer: bytes = ANSWER) -> None:
        self._calls_each = calls_each
        self._answer = answer
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.taken = 0
        self.asked: list[bytes] = []
        Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.taken += 1
            Thread(target=self._talk, args=[connection], daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with connection:
            for _ in range(self._calls_each):
                asked = connection.recv(65536)
                if not asked:
                    return
                self.asked.append(asked)
                connection.sendall(self._answer)

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def talks() -> Iterator[Server]:
    server = Server(calls_each=100)
    yield server
    server.close()


@pytest.fixture
def client(talks: Server) -> Iterator[SyncClient]:
    with closing(SyncClient(talks.url, reuses=True)) as client:
        yield client


def call(client: SyncClient, path: str = "/clock", timeout_seconds: float | None = None) -> int:
    return client.request("GET", path, timeout_seconds=timeout_seconds).status


def test_a_connection_serves_several_requests(talks: Server, client: SyncClient) -> None:
    assert [call(client) for _ in range(3)] == [200] * 3
    assert talks.taken == 1


def test_without_reuse_each_request_has_a_connection(talks: Server) -> None:
    client = SyncClient(talks.url)
    assert [call(client) for _ in range(3)] == [200] * 3
    assert talks.taken == 3


def test_a_connection_that_the_server_closed_is_not_reused() -> None:
    server = Server(calls_each=1)
    with closing(SyncClient(server.url, reuses=True)) as client:
        for _ in range(3):
            assert call(client) == 200
            (idle,) = client._idle
            idle.sock.settimeout(5)
            assert idle.sock.recv(1, socket.MSG_PEEK) == b""  # its end has come
    assert server.taken == 3
    server.close()


def test_threads_do_not_share_a_connection(talks: Server, client: SyncClient) -> None:
    together = Barrier(4)

    def calls() -> None:
        together.wait(5)
        for _ in range(20):
            assert call(client) == 200

    threads = [Thread(target=calls) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(talks.asked) == 80
    assert 1 <= talks.taken <= 4


def test_a_connection_is_not_reused_after_a_timeout() -> None:
    server = Server(calls_each=100, answer=b"")
    client = SyncClient(server.url, reuses=True)
    with pytest.raises(NoResponse, match="timed out"):
        call(client, timeout_seconds=0.05)
    assert client._idle == []
    server.close()


def test_a_path_is_quoted_but_not_twice(talks: Server, client: SyncClient) -> None:
    call(client, "/resources/a%2Fb and ü?search=x+y")
    assert talks.asked[0].startswith(b"GET /resources/a%2Fb%20and%20%C3%BC?search=x+y HTTP/1.1\r\n")


def test_a_refused_connection_raises() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        with pytest.raises(NoResponse, match="refused"):
            call(SyncClient(f"http://127.0.0.1:{nobody.getsockname()[1]}"))


def test_a_live_key_in_a_body_is_not_sent(talks: Server) -> None:
    keys = LiveKeys(["sk_live_"], own="ours", place="live", example="sk_live_ours")
    client = SyncClient(talks.url, live_keys=keys)
    with pytest.raises(LiveKey):
        client.request("POST", "/token", b'{"key": "sk_live_real"}')
    assert client.request("POST", "/token", b'{"key": "sk_live_ours"}').status == 200
    assert b"sk_live_real" not in b"".join(talks.asked)


def test_a_response_that_breaks_off_raises() -> None:
    server = Server(calls_each=1, answer=ANSWER.replace(b"Length: 2", b"Length: 9"))
    with pytest.raises(NoResponse, match="IncompleteRead"):
        call(SyncClient(server.url))
    server.close()
