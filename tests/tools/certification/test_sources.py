"""The application's records from a command, a URL, CSV, SQLite or a function."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from simulator.certification.sources import Line, Unusable, called, parsed, read_books, returned, settle, wait_for_queue

BOOKS = [Line("A-1", "completed", Decimal("37.892536"), "USDC"), Line("A-2", "failed", Decimal(0), "")]
CSV = "order,state,amount,currency\nA-1,completed,37.892536,USDC\nA-2,failed,,\n"
JSON = '{"order": "A-1", "state": "completed", "amount": 37.892536, "currency": "USDC"}'
FAILED = '{"order": "A-2", "state": "failed", "amount": null}'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


@pytest.mark.parametrize(
    "text",
    [
        f"{JSON}\n\n{FAILED}\n",
        f"[{JSON}, {FAILED}]",
        CSV,
        "\ufeff" + CSV.replace("\n", "\r\n"),
        'State, "Amount", Currency, Order, note\ncompleted, 37.892536, USDC, A-1, "a, b"\nfailed, 0, , A-2, \n',
    ],
)
def test_json_and_csv_are_distinguished_by_the_first_character(text: str) -> None:
    assert parsed(text) == BOOKS


def test_empty_books_have_no_orders() -> None:
    assert parsed("") == parsed("order,state,amount\n") == parsed("[]") == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hello", "line 1 is 'hello'. Write JSON lines like"),
        ("order,status,amount\nA-1,completed,5", "CSV with the header order,state,amount,currency"),
        (f"{JSON}\n{{}}", "line 2 has no order and no state and no amount"),
        (f"{JSON}\nhello", "line 2 is 'hello'"),
        ("order,state,amount\nA-1,completed,5\nA-2,completed,five", "line 3: amount 'five' is not a number"),
        ("order,state,amount\nA-1,completed,NaN", "'NaN' is not a number"),
        ("order,state,amount\nA-1", "line 2 has no state"),
        ("[1]", "row 1 is 1"),
        ("[1", "is not valid JSON"),
    ],
)
def test_an_error_in_books_names_its_line(text: str, said: str) -> None:
    with pytest.raises(Unusable) as refused:
        parsed(text)
    assert said in str(refused.value)


@pytest.fixture
def url() -> Iterator[str]:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(CSV.encode())

        def log_message(self, *words: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/books"
        server.shutdown()


def test_every_source_gives_the_same_lines(here: Path, url: str) -> None:
    Path("a-key.csv").write_text(CSV)
    Path("shop.py").write_text(
        "import os\n"
        "def books():\n"
        "    print('a word for the log')\n"
        "    yield 'A-1', 'completed', 37.892536, 'USDC'\n"
        "    yield {'order': 'A-2', 'state': os.environ['WORLD'] and 'failed', 'amount': None}\n"
    )
    with closing(sqlite3.connect("shop.db")) as database:
        database.executescript(
            "CREATE TABLE orders (reference, state, amount, currency);"
            "INSERT INTO orders VALUES ('A-1', 'completed', '37.892536', 'USDC'), ('A-2', 'failed', NULL, NULL);"
        )
    every = (
        "cat a-key.csv",
        url,
        "a-key.csv",
        "$WORLD.csv",
        str(here / "a-key.csv"),
        "sqlite:///shop.db#SELECT * FROM orders",
        f'sqlite:///{here}/shop.db#SELECT amount, currency, state, reference AS "order" FROM orders',
        "shop:books",
    )
    for source in every:
        assert read_books(source, {"WORLD": "a-key"}) == BOOKS, source


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("books.csv", "books.csv does not exist"),
        ("$NOWHERE.csv", "$NOWHERE.csv does not exist"),
        ("sqlite:///shop.db#SELECT 1", "shop.db does not exist"),
        ("sqlite:///shop.db", "has no query. Write it after a #"),
        ("sqlite:///text.db#SELECT a FROM b", "text.db: file is not a database, in `SELECT a FROM b`"),
        ("sqlite:///empty.db#SELECT a FROM b", "no such table: b, in `SELECT a FROM b`"),
        ("sqlite:///empty.db#SELECT 'A-1', 'completed'", "row 1 of `SELECT 'A-1', 'completed'` has no amount"),
        ("sqlite:///empty.db#CREATE TABLE b (c)", "attempt to write a readonly database"),
        ("nowhere:books", "nowhere:books cannot be imported: ModuleNotFoundError: No module named 'nowhere'"),
        ("shop:book", "has no attribute 'book'"),
        ("shop:name", "shop:name is not a function"),
        ("shop:nothing", "shop:nothing returns None. Return a list of dicts like"),
        ("shop:text", "shop:text returns 'A-1'. Return a list of dicts like"),
        ("shop:broken", "shop:broken raised ZeroDivisionError: division by zero (shop.py, line 4)"),
        ("false", "`false` failed with exit code 1"),
    ],
)
def test_a_source_that_does_not_work_is_named(source: str, said: str, here: Path) -> None:
    Path("text.db").write_text("no database at all, but many words that look like none\n" * 20)
    Path("empty.db").touch()
    Path("shop.py").write_text(
        "name = 'shop'\ndef nothing(): pass\ndef text(): return 'A-1'\ndef broken(): yield 1 / 0\n"
    )
    with pytest.raises(Unusable) as refused:
        read_books(source, {})
    assert said in str(refused.value)
    assert "--books: " in str(refused.value)


def test_a_function_is_called_in_this_process(here: Path) -> None:
    Path("till.py").write_text("rows = []\ndef books(): return rows\n")
    assert returned("till:books") == []
    sys.modules["till"].rows.append(["A-1", "completed", "37.892536", "USDC"])
    assert returned("till:books") == BOOKS[:1]
    assert called("books", lambda: None) is None


def test_a_job_is_a_command_or_a_function(here: Path) -> None:
    Path("job.py").write_text("import os\ndef settle(): os.mkdir(os.environ['WORLD'])\n")
    settle("job:settle", {"WORLD": "a-key"})
    settle("mkdir $WORLD", {"WORLD": "another"})
    assert Path("a-key").is_dir()
    assert Path("another").is_dir()
    with pytest.raises(Unusable, match="File exists"):
        settle("job:settle", {"WORLD": "a-key"})


def test_a_queue_that_stays_full_is_reported() -> None:
    with pytest.raises(Unusable, match=r"--quiesce: `false` does not report an empty queue after 0.1 seconds"):
        wait_for_queue("false", {}, 0.1)
    wait_for_queue("true", {}, 0.1)
