"""Timers as data, in the order of (due time, creation)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from simulator.kernel.agenda import RANKED, Agenda, Timer
from simulator.kernel.store import Store
from tests.unit.kernel.breaking import Refused, broken_off


def made() -> tuple[Store, Agenda]:
    store = Store()
    return store, Agenda(store)


def fire_all(store: Store, agenda: Agenda) -> list[str]:
    """The keys of all timers in the order in which they fire."""
    fired = []
    while (timer := agenda.next()) is not None:
        with store.change():
            agenda.take(timer)
        fired.append(timer.key)
    return fired


def test_an_empty_agenda_has_nothing_to_fire() -> None:
    _, agenda = made()
    assert agenda.next() is None
    assert len(agenda) == 0
    assert agenda.in_firing_order() == []


def test_a_timer_is_plain_data() -> None:
    store, agenda = made()
    with store.change():
        agenda.plan(50, "quote.expiry", "qt_1", reason="law")
    assert agenda.next() == Timer("quote.expiry:qt_1", 50, 1, "quote.expiry", "qt_1", {"reason": "law"})
    assert store.tables()["timers"] == {"quote.expiry:qt_1": agenda.next()}


def test_looking_at_the_next_timer_does_not_fire_it() -> None:
    store, agenda = made()
    with store.change():
        agenda.plan(50, "kind", "a")
    assert agenda.next() is agenda.next() is not None
    assert len(agenda) == 1


def test_timers_fire_by_due_time_and_then_by_creation() -> None:
    store, agenda = made()
    with store.change():
        agenda.plan(30, "kind", "late")
        agenda.plan(20, "kind", "z")
        agenda.plan(20, "kind", "a")
        agenda.plan(10, "kind", "early")
    in_order = ["kind:early", "kind:z", "kind:a", "kind:late"]
    assert [timer.key for timer in agenda.in_firing_order()] == in_order
    assert fire_all(store, agenda) == in_order
    assert len(agenda) == 0


def test_planning_a_timer_replaces_the_earlier_one_of_its_kind() -> None:
    store, agenda = made()
    with store.change():
        agenda.plan(10, "kind", "a")
        agenda.plan(10, "kind", "b")
        agenda.plan(10, "kind", "a", again=True)
        agenda.plan(10, "other", "a")
    assert fire_all(store, agenda) == ["kind:b", "kind:a", "other:a"]


@pytest.mark.parametrize("due_at_ms", [5, 10, 15])
def test_a_timer_may_be_put_off_or_brought_forward(due_at_ms: int) -> None:
    store, agenda = made()
    with store.change():
        agenda.plan(10, "kind", "a")
    with store.change():
        agenda.plan(due_at_ms, "kind", "a")
    planned = agenda.planned("kind", "a")
    assert planned is not None
    assert planned.due_at_ms == due_at_ms
    assert fire_all(store, agenda) == ["kind:a"]


def test_cancelled_timer_does_not_fire() -> None:
    store, agenda = made()
    with store.change():
        agenda.plan(10, "kind", "a")
        agenda.plan(20, "kind", "b")
        agenda.cancel("kind", "a")
        agenda.cancel("kind", "a")
        agenda.cancel_key("nothing")
    assert agenda.planned("kind", "a") is None
    assert fire_all(store, agenda) == ["kind:b"]


def test_a_resource_may_have_several_timers_of_a_kind_when_asked_for() -> None:
    store, agenda = made()
    with store.change():
        first = agenda.plan_another(10, "retry", "wh_1", attempt=1)
        second = agenda.plan_another(10, "retry", "wh_1", attempt=2)
        third = agenda.plan_another(10, "retry", "wh_1", attempt=3)
        agenda.cancel_key(second)
    assert len({first, second, third}) == 3
    assert [timer.arguments for timer in agenda.in_firing_order()] == [{"attempt": 1}, {"attempt": 3}]
    assert fire_all(store, agenda) == [first, third]
    assert agenda.planned("retry", "wh_1") is None


def test_ranked_timers_fire_after_the_others_of_their_instant() -> None:
    store, agenda = made()
    with store.change():
        high = agenda.plan_another(10, "retry", "a", rank=7)
        low = agenda.plan_another(10, "retry", "b", rank=0)
        early = agenda.plan_another(9, "retry", "c", rank=9)
        agenda.plan(10, "kind", "counted")
        agenda.plan(11, "kind", "later")
    assert fire_all(store, agenda) == [early, "kind:counted", low, high, "kind:later"]


def test_a_rank_takes_no_part_in_the_count_of_timers() -> None:
    store, agenda = made()
    with store.change():
        agenda.plan_another(10, "retry", "a", rank=5)
        agenda.plan(10, "kind", "b")
    assert [timer.number for timer in agenda.in_firing_order()] == [2, RANKED + 5]


def test_planning_outside_of_a_change_is_refused() -> None:
    _, agenda = made()
    with pytest.raises(RuntimeError):
        agenda.plan(10, "kind", "a")
    assert len(agenda) == 0
    assert agenda.next() is None


def test_failed_change_restores_cancelled_timers_after_reading_the_agenda() -> None:
    store, agenda = made()
    with store.change():
        agenda.plan(10, "kind", "a")
        agenda.plan(20, "kind", "b")
    with broken_off(store.change()):
        agenda.cancel("kind", "a")
        following = agenda.next()
        assert following is not None
        assert following.target == "b"
    assert fire_all(store, agenda) == ["kind:a", "kind:b"]


def test_a_failed_change_discards_its_planned_timers() -> None:
    store, agenda = made()
    with store.change():
        agenda.plan(10, "kind", "a")
    with broken_off(store.change()):
        agenda.plan(5, "kind", "a")
        agenda.plan(1, "kind", "b")
    planned = agenda.planned("kind", "a")
    assert planned is not None
    assert planned.due_at_ms == 10
    assert fire_all(store, agenda) == ["kind:a"]


def test_a_replaced_store_needs_a_new_index() -> None:
    store, agenda = made()
    with store.change():
        agenda.plan(20, "kind", "b")
        agenda.plan(10, "kind", "a")
        agenda.plan_another(10, "kind", "c", rank=1)
    kept = store.tables()
    other = Store()
    copy = Agenda(other)
    with other.change():
        copy.plan(1, "kind", "gone")
    other.replace(kept)
    copy.rebuild()
    assert fire_all(other, copy) == fire_all(store, agenda) == ["kind:a", "kind:c:3", "kind:b"]


def test_heap_does_not_grow_with_replaced_timers() -> None:
    store, agenda = made()
    with store.change():
        agenda.plan(1, "kind", "first")
    for number in range(2_000):
        with store.change():
            agenda.plan(1_000_000 + number, "kind", "a")
            agenda.plan(1_000_000, "kind", f"gone{number}")
            agenda.cancel("kind", f"gone{number}")
        agenda.next()
    assert len(agenda._heap) < 200
    assert fire_all(store, agenda) == ["kind:first", "kind:a"]


def test_a_small_index_is_not_rebuilt() -> None:
    store, agenda = made()
    with store.change():
        for number in range(60):
            agenda.plan(10, "kind", "a", number=number)
    index = agenda._heap
    assert agenda.next() is not None
    assert agenda._heap is index


TARGETS = ("a", "b", "c")
KINDS = ("quote", "run")
instants = st.integers(0, 6)


class AgendaMachine(RuleBasedStateMachine):
    """The agenda beside the simplest thing that could be right: a dict of timers, sorted whenever one is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.store = Store()
        self.agenda = Agenda(self.store)
        self.naive: dict[str, tuple[int, int]] = {}
        self.count = 0
        self.ranks = 0
        self.kept: Any = None
        self.change: Any = None
        self.before: Any = None

    def _writing(self) -> Any:
        return self.store.change()

    def _note(self, key: str, due_at_ms: int, rank: int | None = None) -> None:
        self.count += 1
        self.naive[key] = (due_at_ms, self.count if rank is None else RANKED + rank)

    def _order(self) -> list[str]:
        return sorted(self.naive, key=lambda key: (*self.naive[key], key))

    @rule(due=instants, kind=st.sampled_from(KINDS), resource=st.sampled_from(TARGETS))
    def plan(self, due: int, kind: str, resource: str) -> None:
        with self._writing():
            self.agenda.plan(due, kind, resource)
        self._note(f"{kind}:{resource}", due)

    @rule(due=instants, resource=st.sampled_from(TARGETS))
    def plan_another(self, due: int, resource: str) -> None:
        with self._writing():
            key = self.agenda.plan_another(due, "many", resource)
        assert key not in self.naive
        self._note(key, due)

    @rule(due=instants, resource=st.sampled_from(TARGETS), rank=st.integers(0, 3))
    def plan_ranked(self, due: int, resource: str, rank: int) -> None:
        with self._writing():
            key = self.agenda.plan_another(due, "many", resource, rank=rank)
        assert key not in self.naive
        self._note(key, due, rank)

    @rule(kind=st.sampled_from(KINDS), resource=st.sampled_from(TARGETS))
    def cancel(self, kind: str, resource: str) -> None:
        with self._writing():
            self.agenda.cancel(kind, resource)
        self.naive.pop(f"{kind}:{resource}", None)

    @precondition(lambda self: self.naive)
    @rule(data=st.data())
    def cancel_any(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.naive)))
        with self._writing():
            self.agenda.cancel_key(key)
        del self.naive[key]

    @precondition(lambda self: self.naive)
    @rule()
    def fire(self) -> None:
        timer = self.agenda.next()
        assert timer is not None
        assert timer.key == self._order()[0]
        with self._writing():
            self.agenda.take(timer)
        del self.naive[timer.key]

    @precondition(lambda self: self.change is None)
    @rule()
    def begin_a_change(self) -> None:
        self.before = dict(self.naive), self.count
        self.change = self.store.change()
        self.change.__enter__()

    @precondition(lambda self: self.change is not None)
    @rule()
    def make_the_change(self) -> None:
        self.change.__exit__(None, None, None)
        self.change = None

    @precondition(lambda self: self.change is not None)
    @rule()
    def break_the_change_off(self) -> None:
        assert not self.change.__exit__(Refused, Refused(), None)
        self.naive, self.count = self.before
        self.change = None

    @precondition(lambda self: self.change is None)
    @rule()
    def take_a_snapshot(self) -> None:
        self.kept = self.store.tables(), dict(self.naive), self.count

    @precondition(lambda self: self.change is None and self.kept is not None)
    @rule()
    def restore_the_snapshot(self) -> None:
        tables, naive, self.count = self.kept
        self.naive = dict(naive)
        self.store.replace(tables)
        self.agenda.rebuild()

    @invariant()
    def the_same_timers_in_the_same_order(self) -> None:
        order = self._order()
        assert [timer.key for timer in self.agenda.in_firing_order()] == order
        assert len(self.agenda) == len(order)
        for count in (0, 1, 3):
            assert [timer.key for timer in self.agenda.first(count)] == order[:count]
        following = self.agenda.next()
        assert (None if following is None else following.key) == (order[0] if order else None)

    def teardown(self) -> None:
        if self.change is not None:
            self.change.__exit__(None, None, None)


AgendaMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=40)
TestAgendaAgainstTheNaiveOne = AgendaMachine.TestCase
