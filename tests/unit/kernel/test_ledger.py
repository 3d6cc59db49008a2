"""The ledger: balanced entries, accounts that never become negative, holds (decisions M10 and M11)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from simulator.kernel.ledger import (
    OUTSIDE,
    Entry,
    Hold,
    Ledger,
    Overdrawn,
    Posting,
    Unbalanced,
    available,
    held,
)
from simulator.kernel.store import Store
from tests.unit.kernel.breaking import broken_off

FEES = "fees"
OWNER = "sandbox:account"
POT, ASIDE = available(OWNER), held(OWNER)
WIDEST = Decimal("999999999999999999.999999999999999999")


def books(opening: str = "0") -> tuple[Store, Ledger]:
    """A ledger in which the account owns that many KES."""
    store = Store()
    ledger = Ledger(store)
    with store.change():
        ledger.move(1, "opening", "start", "KES", Decimal(opening), OUTSIDE, POT)
    return store, ledger


def balances(ledger: Ledger, currency: str = "KES") -> tuple[Decimal | int, ...]:
    """What is available, held, outside, and earned in fees; a whole number of them may be written as one."""
    return (
        ledger.balance(POT, currency),
        ledger.balance(ASIDE, currency),
        ledger.balance(OUTSIDE, currency),
        ledger.balance(FEES, currency),
    )


def test_an_unused_account_is_empty() -> None:
    _, ledger = books()
    assert balances(ledger) == (0, 0, 0, 0)
    assert ledger.touched_at_ms(POT, "KES") is None
    assert ledger.totals() == {}
    assert list(ledger.entries()) == []


def test_a_movement_is_one_numbered_entry() -> None:
    """Decision M10: the sum over all accounts of a currency stays zero."""
    store, ledger = books("100")
    with store.change():
        ledger.move(7, "fee", "txn_1", "KES", Decimal("2.50"), POT, FEES)
    first, second = ledger.entries()
    assert first.number == 1
    assert second == Entry(
        2, 7, "fee", "txn_1", (Posting(POT, "KES", Decimal("-2.50")), Posting(FEES, "KES", Decimal("2.50")))
    )
    assert balances(ledger) == (Decimal("97.50"), 0, -100, Decimal("2.50"))
    assert ledger.totals() == {"KES": 0}


def test_posting_answers_the_entry_it_wrote() -> None:
    store, ledger = books()
    with store.change():
        entry = ledger.post(3, "gift", "x", Posting(FEES, "KES", Decimal(-1)), Posting(POT, "KES", Decimal(1)))
    assert list(ledger.entries()) == [entry]


def test_the_accounts_have_their_own_names() -> None:
    assert (OUTSIDE, FEES, POT, ASIDE) == ("world", "fees", "sandbox:account/available", "sandbox:account/held")


def test_a_balance_knows_when_an_entry_last_touched_it() -> None:
    store, ledger = books("100")
    with store.change():
        ledger.move(7, "fee", "txn_1", "KES", Decimal(1), POT, FEES)
    assert ledger.touched_at_ms(POT, "KES") == ledger.touched_at_ms(FEES, "KES") == 7
    assert ledger.touched_at_ms(OUTSIDE, "KES") == 1
    assert ledger.touched_at_ms(POT, "TZS") is None


def test_moving_nothing_writes_nothing() -> None:
    store, ledger = books("100")
    with store.change():
        ledger.move(9, "fee", "txn_1", "KES", Decimal("0.00"), POT, FEES)
    assert len(list(ledger.entries())) == 1
    assert ledger.touched_at_ms(POT, "KES") == 1


def test_unbalanced_entry_is_refused() -> None:
    """Decision M10: every movement is a balanced entry."""
    store, ledger = books("100")
    with pytest.raises(Unbalanced, match="fee of txn_1"), store.change():
        ledger.post(2, "fee", "txn_1", Posting(POT, "KES", Decimal(-1)), Posting(FEES, "KES", Decimal("0.99")))
    with pytest.raises(Unbalanced), store.change():
        ledger.post(2, "swap", "txn_1", Posting(POT, "KES", Decimal(-1)), Posting(POT, "TZS", Decimal(1)))


def test_an_owner_s_pot_never_falls_below_zero() -> None:
    store, ledger = books("100")
    with pytest.raises(Overdrawn, match="sandbox:account/available"), store.change():
        ledger.move(2, "send", "txn_1", "KES", Decimal("100.01"), POT, OUTSIDE)
    with pytest.raises(Overdrawn, match="sandbox:account/held"), store.change():
        ledger.move(2, "send", "txn_1", "KES", Decimal("0.01"), ASIDE, OUTSIDE)
    with store.change():
        ledger.move(2, "send", "txn_1", "KES", Decimal(100), POT, OUTSIDE)
    assert balances(ledger) == (0, 0, 0, 0)


def test_a_refused_entry_writes_nothing_even_when_its_change_continues() -> None:
    store, ledger = books("100")
    before = store.tables()
    with store.change():
        with pytest.raises(Overdrawn):
            ledger.move(2, "send", "txn_1", "KES", Decimal(101), POT, FEES)
        with pytest.raises(Overdrawn):
            ledger.hold(2, "txn_1", OWNER, "KES", Decimal(101))
        with pytest.raises(Unbalanced):
            ledger.post(2, "fee", "txn_1", Posting(POT, "KES", Decimal(-1)))
    assert store.tables() == before


def test_world_and_fees_may_fall_below_zero() -> None:
    store, ledger = books("0")
    with store.change():
        ledger.move(2, "gift", "txn_1", "KES", Decimal(5), FEES, POT)
        ledger.move(2, "deposit", "txn_2", "KES", Decimal(5), OUTSIDE, POT)
    assert balances(ledger) == (10, 0, -5, -5)


def test_several_postings_to_one_account_are_taken_together() -> None:
    store, ledger = books("10")
    with store.change():
        ledger.post(
            2,
            "send",
            "txn_1",
            Posting(POT, "KES", Decimal(-8)),
            Posting(POT, "KES", Decimal(-2)),
            Posting(OUTSIDE, "KES", Decimal(9)),
            Posting(FEES, "KES", Decimal(1)),
        )
    assert balances(ledger) == (0, 0, -1, 1)
    with pytest.raises(Overdrawn), store.change():
        ledger.post(
            2,
            "x",
            "y",
            Posting(POT, "KES", Decimal(-1)),
            Posting(POT, "KES", Decimal(-1)),
            Posting(FEES, "KES", Decimal(2)),
        )


def test_same_code_on_two_networks_has_two_balances() -> None:
    store, ledger = books()
    with store.change():
        ledger.move(2, "deposit", "dep_1", "USDC.stellar", Decimal(5), OUTSIDE, POT)
        ledger.move(2, "deposit", "dep_2", "USDC.celo", Decimal(3), OUTSIDE, POT)
    assert ledger.balance(POT, "USDC.stellar") == 5
    assert ledger.balance(POT, "USDC.celo") == 3
    assert ledger.totals() == {"USDC.stellar": 0, "USDC.celo": 0}


def test_a_hold_moves_from_available_to_held_and_waits() -> None:
    """Decision M11."""
    store, ledger = books("100")
    with store.change():
        ledger.hold(2, "txn_1", OWNER, "KES", Decimal(60))
    assert balances(ledger) == (40, 60, -100, 0)
    assert ledger.pending_hold("txn_1") == Hold("txn_1", OWNER, "KES", Decimal(60), "pending")
    assert list(ledger.holds()) == [ledger.pending_hold("txn_1")]
    assert ledger.pending_hold("txn_2") is None
    assert [entry.purpose for entry in ledger.entries()] == ["opening", "hold"]


def test_a_posted_hold_is_split_into_fees_and_world() -> None:
    store, ledger = books("100")
    with store.change():
        ledger.hold(2, "txn_1", OWNER, "KES", Decimal(60))
        ledger.post_hold(3, "txn_1", Decimal("1.25"), FEES)
    assert balances(ledger) == (40, 0, Decimal("-41.25"), Decimal("1.25"))
    assert ledger.pending_hold("txn_1") is None
    assert [hold.status for hold in ledger.holds()] == ["posted"]
    assert [(entry.purpose, entry.at_ms) for entry in ledger.entries()][-1] == ("post", 3)


def test_a_posted_hold_without_a_fee_goes_to_world() -> None:
    store, ledger = books("100")
    with store.change():
        ledger.hold(2, "txn_1", OWNER, "KES", Decimal(60))
        ledger.post_hold(3, "txn_1")
    assert balances(ledger) == (40, 0, -40, 0)


def test_a_voided_hold_is_available_again() -> None:
    store, ledger = books("100")
    with store.change():
        ledger.hold(2, "txn_1", OWNER, "KES", Decimal(60))
        ledger.void_hold(3, "txn_1")
    assert balances(ledger) == (100, 0, -100, 0)
    assert [hold.status for hold in ledger.holds()] == ["voided"]
    assert [(entry.purpose, entry.at_ms) for entry in ledger.entries()][-1] == ("void", 3)


@pytest.mark.parametrize("settled", ["never held", "posted", "voided"])
def test_an_unknown_hold_can_be_neither_posted_nor_voided(settled: str) -> None:
    store, ledger = books("100")
    with store.change():
        if settled != "never held":
            ledger.hold(2, "txn_1", OWNER, "KES", Decimal(60))
            ledger.post_hold(2, "txn_1") if settled == "posted" else ledger.void_hold(2, "txn_1")
    before = store.tables()
    with store.change():
        for settle in (ledger.post_hold, ledger.void_hold):
            with pytest.raises(KeyError, match="there is no pending hold for txn_1"):
                settle(3, "txn_1")
    assert store.tables() == before


def test_a_resource_is_held_for_once_at_a_time() -> None:
    store, ledger = books("100")
    with store.change():
        ledger.hold(2, "txn_1", OWNER, "KES", Decimal(60))
    before = store.tables()
    with pytest.raises(ValueError, match="txn_1 already has a hold"), store.change():
        ledger.hold(2, "txn_1", OWNER, "KES", Decimal(10))
    assert store.tables() == before
    with store.change():
        ledger.void_hold(3, "txn_1")
        ledger.hold(4, "txn_1", OWNER, "KES", Decimal(10))
    assert balances(ledger) == (90, 10, -100, 0)


def test_the_widest_amounts_are_booked_exactly() -> None:
    store, ledger = books()
    with store.change():
        ledger.move(1, "opening", "start", "KES", WIDEST, OUTSIDE, POT)
        ledger.move(1, "opening", "start", "KES", WIDEST, OUTSIDE, POT)
        ledger.hold(2, "txn_1", OWNER, "KES", WIDEST)
        ledger.post_hold(3, "txn_1", Decimal("0.000000000000000001"), FEES)
    assert balances(ledger)[:2] == (WIDEST, 0)
    assert str(ledger.balance(OUTSIDE, "KES")) == "-1000000000000000000.000000000000000000"
    assert ledger.totals() == {"KES": 0}


def test_a_change_that_fails_leaves_the_books_as_they_were() -> None:
    store, ledger = books("100")
    before = store.tables()
    with broken_off(store.change()):
        ledger.hold(2, "txn_1", OWNER, "KES", Decimal(60))
        ledger.post_hold(3, "txn_1", Decimal(1), FEES)
    assert store.tables() == before
    with store.change():
        ledger.move(4, "fee", "txn_2", "KES", Decimal(1), POT, FEES)
    assert [entry.number for entry in ledger.entries()] == [1, 2]


OWNERS = ("sandbox:account", "sandbox:amina")
CURRENCIES = ("KES", "USDC.stellar")
small = st.decimals(Decimal("0.01"), Decimal("5"), places=2)


class LedgerMachine(RuleBasedStateMachine):
    """The ledger beside a book that a child could keep: what each has, what is put aside, and nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.store = Store()
        self.ledger = Ledger(self.store)
        self.has: dict[tuple[str, str], Decimal] = {}
        self.aside: dict[str, tuple[str, str, Decimal]] = {}
        self.fees: dict[str, Decimal] = {}
        self.made = 0

    def _own(self, owner: str, currency: str) -> Decimal:
        return self.has.get((owner, currency), Decimal(0))

    @rule(owner=st.sampled_from(OWNERS), currency=st.sampled_from(CURRENCIES), amount=small)
    def deposit(self, owner: str, currency: str, amount: Decimal) -> None:
        with self.store.change():
            self.ledger.move(1, "deposit", "dep", currency, amount, OUTSIDE, available(owner))
        self.has[owner, currency] = self._own(owner, currency) + amount

    @rule(currency=st.sampled_from(CURRENCIES), amount=small, swapped=st.booleans())
    def give(self, currency: str, amount: Decimal, swapped: bool) -> None:
        giver, taker = reversed(OWNERS) if swapped else OWNERS
        if self._own(giver, currency) < amount:
            with pytest.raises(Overdrawn), self.store.change():
                self.ledger.move(1, "send", "txn", currency, amount, available(giver), available(taker))
            return
        with self.store.change():
            self.ledger.move(1, "send", "txn", currency, amount, available(giver), available(taker))
        self.has[giver, currency] -= amount
        self.has[taker, currency] = self._own(taker, currency) + amount

    @rule(owner=st.sampled_from(OWNERS), currency=st.sampled_from(CURRENCIES), amount=small, number=st.integers(0, 4))
    def hold(self, owner: str, currency: str, amount: Decimal, number: int) -> None:
        resource = f"txn_{number}"
        refusal: Any = None
        if resource in self.aside:
            refusal = ValueError
        elif self._own(owner, currency) < amount:
            refusal = Overdrawn
        if refusal is not None:
            with pytest.raises(refusal), self.store.change():
                self.ledger.hold(1, resource, owner, currency, amount)
            return
        with self.store.change():
            self.ledger.hold(1, resource, owner, currency, amount)
        self.has[owner, currency] -= amount
        self.aside[resource] = (owner, currency, amount)

    @rule(number=st.integers(0, 4), spent=st.booleans(), undone=st.booleans())
    def settle(self, number: int, spent: bool, undone: bool) -> None:
        resource = f"txn_{number}"
        fee = Decimal("0.01") if spent else Decimal(0)

        def act() -> None:
            if spent:
                self.ledger.post_hold(1, resource, fee, FEES)
            else:
                self.ledger.void_hold(1, resource)

        if resource not in self.aside:
            with pytest.raises(KeyError), self.store.change():
                act()
            return
        if undone:
            with broken_off(self.store.change()):
                act()
            return
        with self.store.change():
            act()
        owner, currency, amount = self.aside.pop(resource)
        if not spent:
            self.has[owner, currency] += amount
        self.fees[currency] = self.fees.get(currency, Decimal(0)) + fee

    @invariant()
    def the_totals_are_zero(self) -> None:
        assert not any(self.ledger.totals().values())

    @invariant()
    def everybody_has_what_the_naive_book_says(self) -> None:
        for currency in CURRENCIES:
            for owner in OWNERS:
                put_aside = [amount for who, what, amount in self.aside.values() if (who, what) == (owner, currency)]
                assert self.ledger.balance(available(owner), currency) == self._own(owner, currency)
                assert self.ledger.balance(held(owner), currency) == sum(put_aside)
            assert self.ledger.balance(FEES, currency) == self.fees.get(currency, 0)
        assert {hold.id for hold in self.ledger.holds() if hold.status == "pending"} == set(self.aside)

    @invariant()
    def the_balances_are_the_sums_of_the_entries(self) -> None:
        sums: dict[tuple[str, str], Decimal] = {}
        for number, entry in enumerate(self.ledger.entries(), 1):
            assert entry.number == number
            for posting in entry.postings:
                key = posting.account, posting.currency
                sums[key] = sums.get(key, Decimal(0)) + posting.amount
        assert all(self.ledger.balance(*key) == total for key, total in sums.items())


LedgerMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=40)
TestLedgerAgainstTheNaiveBook = LedgerMachine.TestCase
