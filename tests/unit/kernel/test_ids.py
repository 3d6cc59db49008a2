"""Randomness: named streams, all derived from the seed."""

from __future__ import annotations

import re
from collections import Counter
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.kernel.ids import ID_LENGTH, Streams, derive, text_of
from simulator.kernel.store import Store
from tests.unit.kernel.breaking import broken_off


def streams(seed: int = 1) -> tuple[Store, Streams]:
    store = Store()
    return store, Streams(store, seed)


def draws(seed: int, *names: str) -> list[bytes]:
    store, chance = streams(seed)
    with store.change():
        return [chance.draw(name) for name in names]


@given(st.integers(), st.text())
def test_the_same_seed_gives_the_same_draws(seed: int, name: str) -> None:
    assert draws(seed, name, name, name) == draws(seed, name, name, name)


def test_draws_differ_by_position_stream_and_seed() -> None:
    made = draws(1, *["a"] * 50, *["b"] * 50) + draws(2, *["a"] * 50)
    assert len(set(made)) == 150
    assert {len(draw) for draw in made} == {32}


@given(st.lists(st.sampled_from("abc"), max_size=20))
def test_a_draw_from_one_stream_never_shifts_another(names: list[str]) -> None:
    mixed = draws(7, *names)
    for name in "abc":
        alone = draws(7, *[name] * names.count(name))
        assert [draw for draw, drawn in zip(mixed, names, strict=True) if drawn == name] == alone


def test_streams_whose_names_look_alike_are_different_streams() -> None:
    assert len(set(draws(1, "a", "a/0", "a/1", "a0", ""))) == 5


def test_a_change_that_fails_draws_again() -> None:
    store, chance = streams()

    made = []
    for _ in range(2):
        with broken_off(store.change()):
            made.append(chance.draw("a"))
    assert made == draws(1, "a") * 2
    with store.change():
        assert [chance.draw("a"), chance.draw("a")] == draws(1, "a", "a")


def test_the_whole_state_of_chance_is_one_count_for_each_stream() -> None:
    store, chance = streams()
    with store.change():
        chance.draw("a")
        chance.draw("a")
        chance.draw("b")
    kept = store.tables()
    assert kept == {"streams": {"a": 2, "b": 1}}
    with store.change():
        following = chance.draw("a")
    store.replace(kept)
    with store.change():
        assert chance.draw("a") == following


def test_drawing_outside_of_a_change_is_refused() -> None:
    _, chance = streams()
    with pytest.raises(RuntimeError):
        chance.draw("a")


def test_ids_have_a_prefix_and_twenty_unambiguous_letters() -> None:
    store, chance = streams()
    with store.change():
        made = [chance.identifier("txn_", "ids.transaction") for _ in range(300)]
    assert len(set(made)) == 300
    assert all(re.fullmatch(r"txn_[0-9a-hjkmnp-tv-z]{20}", identifier) for identifier in made)
    assert set("".join(made).replace("txn_", "")) == set("0123456789abcdefghjkmnpqrstvwxyz")


def test_the_first_values_of_a_seed_never_change() -> None:
    store, chance = streams(1)
    assert chance.seed == 1
    with store.change():
        assert chance.identifier("txn_", "ids.transaction") == "txn_sdc0hwa5vkk922a0bb95"
        assert chance.uuid("ids.order") == "bb61cfd4-1801-4429-9c01-b4a84c96e5c8"
        assert chance.below(10**30, "a") == 609680557480082891247847299784
        assert chance.fraction("a") == 0.0532916632504864
    assert derive("a", "b").hex() == "59b271ae1bbcb1d31d41929817f4b16fb439eb4f31520b5ad1d5ce98920a7138"


@given(st.binary(min_size=13, max_size=40))
def test_letters_are_the_low_digits_in_base_32(raw: bytes) -> None:
    alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
    text = text_of(raw)
    assert len(text) == ID_LENGTH == 20
    value = sum(alphabet.index(letter) * 32**place for place, letter in enumerate(text))
    assert value == int.from_bytes(raw, "big") % 32**20
    assert text_of(raw, 4) == text[:4]
    assert text_of(raw, 7) == text[:7]


def test_uuids_are_of_version_4_and_variant_1() -> None:
    store, chance = streams()
    with store.change():
        made = [chance.uuid("ids.order") for _ in range(200)]
    assert len(set(made)) == 200
    for text in made:
        read = UUID(text)
        assert str(read) == text
        assert read.version == 4
        assert read.variant == "specified in RFC 4122"
    assert {text[19] for text in made} == set("89ab")


@given(st.integers(1, 10**30), st.integers(0, 5))
def test_a_number_below_a_limit_is_a_whole_number_from_zero(limit: int, seed: int) -> None:
    store, chance = streams(seed)
    with store.change():
        for _ in range(5):
            assert 0 <= chance.below(limit, "a") < limit


def test_numbers_below_a_limit_are_about_equally_frequent() -> None:
    store, chance = streams()
    with store.change():
        counts = Counter(chance.below(6, "dice") for _ in range(6_000))
    assert set(counts) == set(range(6))
    assert all(850 < count < 1_150 for count in counts.values())


def test_fractions_fill_the_interval_from_zero_to_below_one() -> None:
    store, chance = streams()
    with store.change():
        made = [chance.fraction("f") for _ in range(4_000)]
    assert all(0 <= fraction < 1 for fraction in made)
    assert all((fraction * 2**53).is_integer() for fraction in made)
    assert min(made) < 0.01
    assert max(made) > 0.99
    assert 0.48 < sum(made) / len(made) < 0.52
    assert any((fraction * 2**53) % 2 for fraction in made)


def test_derived_bytes_depend_on_every_part_and_on_where_it_ends() -> None:
    made = [derive("a", "b"), derive("ab"), derive("b", "a"), derive("a", "b", ""), derive("a"), derive(1, "b")]
    assert len(set(made)) == len(made)
    assert {len(raw) for raw in made} == {32}
    assert derive("a", "b") == derive("a", "b")
    assert derive(1) == derive("1")
