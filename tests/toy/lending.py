"""Books and loans. A loan lasts until the reader returns the book. Nobody can borrow a book that is on loan."""

# No `from __future__ import annotations`: pydantic would compile every annotation of a body again.

from typing import Literal

from typing_extensions import TypedDict

from simulator.engine.records.records import by_id, create, move, new_fields
from simulator.engine.rows.action import Action, ActionCall
from simulator.engine.rows.error import ApiError, ErrorCode
from simulator.engine.rows.event import EventType
from simulator.engine.rows.kind import Kind, Record
from simulator.engine.rows.operation import Call, OperationDecorator
from simulator.engine.rows.room import Room
from simulator.engine.text.fields import Body, Name, Nothing, Text
from simulator.kernel.dataclass import dataclass
from simulator.kernel.machine import Machine, Move
from simulator.kernel.store import TableKey
from simulator.kernel.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Book(Record):
    title: str

    @property
    def kind(self) -> str:
        return "book"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loan(Record):
    book_id: str

    @property
    def kind(self) -> str:
        return "loan"


class BookShape(TypedDict):
    id: str
    title: str


class LoanShape(TypedDict):
    id: str
    status: Literal["out", "returned"]
    book_id: str


class NewBook(Body):
    title: Name


class NewLoan(Body):
    book_id: Text


BOOK_TABLE = TableKey("books", Book, per_environment=True)
LOAN_TABLE = TableKey("loans", Loan, per_environment=True)
RETURNED = EventType("loan.returned", "a reader brought a book back", is_last=True)
TAKEN = ErrorCode("book_taken", 409, "somebody else has the book")
BOOK = Machine("book", (Move("add", "listed"),), {"listed": ()})
LOAN = Machine(
    "loan",
    (Move("borrow", "out"),),
    {"out": (Move("bring_back", "returned", (RETURNED.name,)),), "returned": ()},
)


def _show_book(world: World, book: Book) -> BookShape:
    return {"id": book.id, "title": book.title}


def _show_loan(world: World, loan: Loan) -> LoanShape:
    return {"id": loan.id, "status": loan.status, "book_id": loan.book_id}  # type: ignore[typeddict-item]  # a state


_books, _loans = OperationDecorator("Books"), OperationDecorator("Loans")


@_books("POST /books", "Add a book", status=201)
def add_book(call: Call[NewBook, None, None]) -> BookShape:
    fields = new_fields(call.world, call.environment, "book-", "ids.book")
    return _show_book(call.world, create(call.world, Book(**fields, title=call.body.title), "add"))


@_loans("POST /loans", "Borrow a book", status=201, errors=("not_found", TAKEN.code))
def borrow(call: Call[NewLoan, None, None]) -> LoanShape:
    world, book_id = call.world, call.body.book_id
    if book_id not in world.store[BOOK_TABLE.of(call.environment)]:
        raise ApiError("not_found", f"There is no book {book_id!r}.", "book_id")
    loans = world.store[LOAN_TABLE.of(call.environment)].values()
    if any(loan.book_id == book_id and loan.status == "out" for loan in loans):
        raise TAKEN.error("Somebody else has this book.")
    loan = Loan(**new_fields(world, call.environment, "loan-", "ids.loan"), book_id=book_id)
    return _show_loan(world, create(world, loan, "borrow"))


@_books("GET /books/{id}", "One book", load=by_id(BOOK_TABLE, "book"))
def get_book(call: Call[None, None, Book]) -> BookShape:
    return _show_book(call.world, call.resource)


@_loans("GET /loans/{id}", "One loan", load=by_id(LOAN_TABLE, "loan"))
def get_loan(call: Call[None, None, Loan]) -> LoanShape:
    return _show_loan(call.world, call.resource)


def _bring_back(call: ActionCall[Loan, Nothing]) -> Loan:
    return move(call.world, call.target, "bring_back")


_BOOK_EXAMPLE = {"id": "book-1", "title": "Middlemarch"}
_LOAN_EXAMPLE = {"id": "loan-1", "status": "out", "book_id": "book-1"}
_BOOKS = Kind("book", BOOK_TABLE, _show_book, BOOK, lambda: BookShape, lambda: _BOOK_EXAMPLE, prefix="book-")
_LOANS = Kind(
    "loan", LOAN_TABLE, _show_loan, LOAN, lambda: LoanShape, lambda: _LOAN_EXAMPLE, prefix="loan-", refers=("book_id",)
)

BOOKS = Room("books", operations=(add_book, get_book), kinds=(_BOOKS,))
LOANS = Room(
    "loans",
    operations=(borrow, get_loan),
    actions=(Action("bring_back", "the reader brings the book back", _bring_back, ("loan",)),),
    kinds=(_LOANS,),
    events=(RETURNED,),
    errors=(TAKEN,),
)
