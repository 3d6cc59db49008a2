"""The connections of control calls: kept for the next call, and never for one that would get another's answer."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing
from threading import Barrier, Thread

import pytest

from simulator.testing.errors import Unreachable
from simulator.testing.links.connections import Connections

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
def kept(talks: Server) -> Iterator[Connections]:
    with closing(Connections(talks.url)) as connections:
        yield connections


def call(connections: Connections, path: str = "/clock", timeout_seconds: float | None = None) -> int:
    return connections.call("GET", path, b"", {}, timeout_seconds).status


def test_a_connection_is_kept_for_the_next_call(talks: Server, kept: Connections) -> None:
    assert [call(kept) for _ in range(3)] == [200] * 3
    assert talks.taken == 1


def test_who_keeps_none_has_one_for_each_call(talks: Server) -> None:
    connections = Connections(talks.url, keeps=False)
    assert [call(connections) for _ in range(3)] == [200] * 3
    assert talks.taken == 3


def test_a_connection_that_the_server_has_ended_is_not_used() -> None:
    server = Server(calls_each=1)
    with closing(Connections(server.url)) as connections:
        for _ in range(3):
            assert call(connections) == 200
            (idle,) = connections._idle
            idle.sock.settimeout(5)
            assert idle.sock.recv(1, socket.MSG_PEEK) == b""  # its end has come
    assert server.taken == 3
    server.close()


def test_calls_at_one_time_have_connections_of_their_own(talks: Server, kept: Connections) -> None:
    together = Barrier(4)

    def calls() -> None:
        together.wait(5)
        for _ in range(20):
            assert call(kept) == 200

    threads = [Thread(target=calls) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(talks.asked) == 80
    assert 1 <= talks.taken <= 4


def test_a_call_that_got_no_answer_in_time_leaves_nothing_for_the_next() -> None:
    server = Server(calls_each=100, answer=b"")
    connections = Connections(server.url)
    with pytest.raises(Unreachable, match="timed out"):
        call(connections, timeout_seconds=0.05)
    assert connections._idle == []
    server.close()


def test_paths_go_as_they_are_meant(talks: Server, kept: Connections) -> None:
    call(kept, "/resources/a%2Fb and ü?search=x+y")
    assert talks.asked[0].startswith(b"GET /resources/a%2Fb%20and%20%C3%BC?search=x+y HTTP/1.1\r\n")


def test_where_nothing_listens_nothing_answers() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        with pytest.raises(Unreachable, match="refused"):
            call(Connections(f"http://127.0.0.1:{nobody.getsockname()[1]}"))
