"""Strings read the same whether they are compressed or not, and compressed strings are small."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.kernel.texts import NEWEST, NO_MEMBERS, TOGETHER, JsonText, Packing, Text, pack

ENVELOPE = b'{"id":"evt_%08d","type":"quote.expired","livemode":false,"data":{"object":{"status":"expired"}}}'


@given(st.lists(st.binary(max_size=40) | st.integers(0, 200_000).map(bytes), max_size=120), st.data())
def test_packed_texts_are_read_as_they_were_written(raws: list[bytes], data: st.DataObject) -> None:
    texts = [Text(raw) for raw in raws]
    for first, last in data.draw(st.lists(st.tuples(st.integers(0, 120), st.integers(0, 120)), max_size=4)):
        pack(texts[first:last])
    assert [text.read() for text in texts] == raws
    assert [text.read() for text in reversed(texts)] == raws[::-1]


def test_the_newest_texts_stay_unpacked() -> None:
    packing, texts = Packing(), [Text(ENVELOPE % number) for number in range(2 * NEWEST)]
    for text in texts:
        packing.add(text)
    packed = [text.is_packed for text in texts]
    assert packed == sorted(packed, reverse=True)
    assert NEWEST <= packed.count(False) < NEWEST + TOGETHER
    assert [text.read() for text in texts] == [ENVELOPE % number for number in range(2 * NEWEST)]


def test_what_is_like_its_neighbours_takes_little_room() -> None:
    texts = [Text(ENVELOPE % number) for number in range(TOGETHER)]
    pack(texts)
    (kept,) = {text._kept for text in texts}
    assert not isinstance(kept, bytes)
    taken = sys.getsizeof(kept._compressed) + sys.getsizeof(kept._ends)
    assert taken < TOGETHER * len(ENVELOPE) / 4


def test_a_text_that_is_added_again_is_packed_once() -> None:
    packing, text = Packing(), Text(b"again")
    others = [Text(b"%d" % number) for number in range(NEWEST + TOGETHER - 1)]
    for added in (text, text, *others, text):
        packing.add(added)
    assert text.read() == b"again"
    assert [other.is_packed for other in others].count(True) == TOGETHER - 1


def test_shared_empty_object_is_never_packed() -> None:
    pack([NO_MEMBERS, Text(b"other")])
    packing = Packing()
    for number in range(NEWEST + TOGETHER):
        packing.add(NO_MEMBERS)
        packing.add(Text(b"%d" % number))
    assert not NO_MEMBERS.is_packed


@pytest.mark.parametrize("packed", [False, True])
def test_texts_of_the_same_bytes_are_equal(packed: bool) -> None:
    one, other, third = Text(b"same"), JsonText(b"same"), Text(b"else")
    if packed:
        pack([one, third])
    assert one == other
    assert hash(one) == hash(other)
    assert one != third
    assert one != b"same"
    assert repr(one) == "Text(b'same')"
