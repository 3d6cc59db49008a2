"""The steps of one replica. `tests/campaigns/trust` tests many of them together."""

from __future__ import annotations

from simulator.engine.durable.shared.ownership import (
    Ask,
    Connect,
    Drained,
    Forward,
    Later,
    Ownership,
    Refuse,
    Release,
    Serve,
    Settle,
    TryLock,
    Unload,
)


def connected() -> Ownership:
    machine = Ownership("http://here")
    assert machine.connected(1) == []
    return machine


def owner() -> Ownership:
    machine = connected()
    assert machine.woken("w") == [TryLock(1, "w", creates=False)]
    assert machine.granted(1, "w", 5) == []
    return machine


def test_a_world_is_served_once_its_lock_is_held() -> None:
    machine = connected()
    assert machine.asked(Ask(1, "w")) == [TryLock(1, "w", creates=False)]
    assert machine.asked(Ask(2, "w")) == [], "the lock is asked for once"
    assert machine.epoch_of("w") is None
    assert machine.granted(1, "w", 5) == [Serve(1, "w"), Serve(2, "w")]
    assert (machine.epoch_of("w"), machine.owned()) == (5, ["w"])
    assert machine.asked(Ask(3, "w")) == [Serve(3, "w")]


def test_a_request_is_forwarded_and_the_owner_cached() -> None:
    machine = connected()
    machine.asked(Ask(1, "w"))
    assert machine.denied(1, "w", "http://there") == [Forward(1, "http://there")]
    assert machine.asked(Ask(2, "w")) == [Forward(2, "http://there")]
    assert machine.forwarded(1, "answered") == []


def test_a_call_that_was_sent_on_is_not_sent_on_again() -> None:
    machine = connected()
    machine.asked(Ask(1, "w", is_forwarded=True))
    assert machine.denied(1, "w", "http://there") == [Refuse(1, "elsewhere")]
    assert machine.asked(Ask(2, "w", is_forwarded=True)) == [TryLock(1, "w", creates=False)], "nobody may own it by now"


def test_an_owner_that_is_none_any_more_is_forgotten() -> None:
    machine = connected()
    machine.asked(Ask(1, "w"))
    machine.denied(1, "w", "http://there")
    assert machine.forwarded(1, "refused") == [Later(1)]
    assert machine.again(1) == [TryLock(1, "w", creates=False)]
    assert machine.granted(1, "w", 2) == [Serve(1, "w")]


def test_a_lock_of_a_former_connection_is_waited_for() -> None:
    machine = connected()
    machine.asked(Ask(1, "w"))
    assert machine.denied(1, "w", "http://here") == [Later(1)]
    assert machine.expired(1, "w") == [Refuse(1, "busy")]
    assert machine.again(1) == []


def test_only_repeatable_requests_are_repeated_after_a_break() -> None:
    machine = connected()
    machine.asked(Ask(1, "w"))
    machine.asked(Ask(2, "w", may_repeat=True))
    machine.denied(1, "w", "http://there")
    assert machine.forwarded(1, "broken") == [Refuse(1, "unknown")]
    assert machine.forwarded(2, "broken") == [Later(2)]
    assert machine.expired(2, "w") == [Refuse(2, "unknown")], "the first try may have done it"


def test_a_connection_that_is_lost_takes_all_worlds_along() -> None:
    machine = owner()
    machine.asked(Ask(1, "w"))
    machine.asked(Ask(2, "v"))
    assert machine.lost(1) == [Refuse(1, "unknown"), Unload("w"), Refuse(2, "unavailable"), Connect()]
    assert machine.owned() == []
    assert machine.asked(Ask(3, "w")) == [Refuse(3, "unavailable")]
    assert machine.connected(2) == []
    assert machine.granted(1, "v", 3) == [], "the answer of a connection that has ended says nothing"
    assert machine.lost(1) == []
    assert machine.asked(Ask(4, "w")) == [TryLock(2, "w", creates=False)]


def test_a_world_is_released_after_its_requests_and_writes() -> None:
    machine = owner()
    machine.asked(Ask(1, "w"))
    assert machine.idle("w") == [], "it is in use"
    assert machine.finished(1, "w") == []
    assert machine.idle("w") == [Settle(1, "w")]
    assert machine.asked(Ask(2, "w")) == [], "it waits for what comes"
    assert machine.settled(1, "w") == [Unload("w"), Release(1, "w")]
    assert machine.epoch_of("w") is None
    assert machine.released(1, "w") == [TryLock(1, "w", creates=False)]


def test_a_replica_that_drains_finishes_lets_go_and_takes_nothing() -> None:
    machine = owner()
    machine.asked(Ask(1, "w"))
    machine.asked(Ask(2, "v"))
    assert machine.drain() == []
    assert machine.finished(1, "w") == [Settle(1, "w")]
    assert machine.granted(1, "v", 9) == [Serve(2, "v")], "what it had asked for before, it serves"
    assert machine.finished(2, "v") == [Settle(1, "v")]
    assert machine.asked(Ask(3, "x")) == [Refuse(3, "stopping")]
    assert machine.woken("x") == []
    machine.settled(1, "w")
    machine.settled(1, "v")
    assert machine.released(1, "w") == []
    assert machine.released(1, "v") == [Drained()]


def test_a_replica_that_owns_nothing_is_drained_at_once() -> None:
    assert connected().drain() == [Drained()]


def test_a_replica_that_drains_and_loses_its_connection_does_not_come_back() -> None:
    machine = owner()
    machine.asked(Ask(1, "w"))
    machine.drain()
    assert machine.lost(1) == [Refuse(1, "unknown"), Unload("w"), Drained()]


def test_an_absent_world_is_404_or_created() -> None:
    machine = connected()
    machine.asked(Ask(1, "w"))
    machine.asked(Ask(2, "w", creates=True))
    assert machine.absent(1, "w") == [Serve(1, "w"), TryLock(1, "w", creates=True)]
    assert machine.finished(1, "w") == []
    assert machine.granted(1, "w", 1) == [Serve(2, "w")]
