"""Addresses are really validated, and generated addresses pass the same validation."""

from __future__ import annotations

import base58
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.kernel.journal import Cause
from simulator.kernel.world import World
from simulator.providers.ramp.reference import ROOM, is_address, is_tx_hash, new_address, new_memo, new_tx_hash
from simulator.providers.ramp.reference.addresses import checksummed, encode_segwit, encode_stellar
from tests.support import make_world

VALID = {
    "stellar": ("GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ",),
    "celo": (
        "0x52908400098527886E0F7030069857D2E4169EE7",
        "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
        "0xde709f2102306220921060314715629080e2fb77",
        "0x27b1fdb04752bbc536007a920d24acb045561c26",
        "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
        "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
        "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
    ),
    "bitcoin": (
        "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4",
        "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
        "bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y",
        "BC1SW50QGDZ25J",
        "bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs",
        "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
        "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
        "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy",
        "1111111111111111111114oLvT2",
    ),
}

INVALID = {
    "stellar": (
        "ga7qynf7sowq3glr2bgmzehxavirza4kvwltjjfc7mgxua74p7ujvsgz",
        "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGA",
        "G47QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVP2I",
        "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSG",
        "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ",
        "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ\n",
        "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        "",
    ),
    "celo": (
        "0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        "0X52908400098527886E0F7030069857D2E4169EE7",
        "52908400098527886E0F7030069857D2E4169EE7",
        "0x52908400098527886E0F7030069857D2E4169EE",
        "0x52908400098527886E0F7030069857D2E4169EE７",
        "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ",
        "",
    ),
    "bitcoin": (
        "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx",
        "tc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq5zuyut",
        "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd",
        "BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL",
        "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh",
        "bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4",
        "BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R",
        "bc1pw5dgrnzv",
        "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav",
        "BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P",
        "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf",
        "bc1gmk9yu",
        "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7Kv8f3t4",
        "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7\N{KELVIN SIGN}V8F3T4",
        "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb",
        "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa ",
        "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn",
        "",
    ),
}


@pytest.mark.parametrize(("network", "text"), [(name, text) for name, texts in VALID.items() for text in texts])
def test_published_addresses_are_accepted(network: str, text: str) -> None:
    assert is_address(network, text)


@pytest.mark.parametrize(("network", "text"), [(name, text) for name, texts in INVALID.items() for text in texts])
def test_addresses_with_a_flaw_are_refused(network: str, text: str) -> None:
    assert not is_address(network, text)


def test_an_unknown_network_has_no_addresses() -> None:
    assert not is_address("ethereum", VALID["celo"][0])


@given(st.binary(min_size=32, max_size=32))
def test_every_stellar_key_survives_the_round_trip(key: bytes) -> None:
    text = encode_stellar(key)
    assert len(text) == 56
    assert text.startswith("G")
    assert is_address("stellar", text)


@given(st.binary(min_size=20, max_size=20))
def test_evm_addresses_are_valid_with_checksum_or_in_one_case(raw: bytes) -> None:
    text = checksummed(raw.hex())
    assert text.lower() == f"0x{raw.hex()}"
    for spelling in (text, text.lower(), "0x" + text[2:].upper()):
        assert is_address("celo", spelling)


@given(st.binary(min_size=20, max_size=20))
def test_an_evm_address_with_the_case_of_one_letter_turned_is_refused(raw: bytes) -> None:
    text = checksummed(raw.hex())
    for place in range(2, 42):
        turned = text[:place] + text[place].swapcase() + text[place + 1 :]
        if turned != text and turned[2:] not in (turned[2:].lower(), turned[2:].upper()):
            assert not is_address("celo", turned)


@given(
    st.integers(0, 16).flatmap(
        lambda version: st.tuples(
            st.just(version),
            st.sampled_from([20, 32]).flatmap(lambda size: st.binary(min_size=size, max_size=size))
            if version == 0
            else st.binary(min_size=2, max_size=40),
        )
    )
)
def test_every_witness_program_survives_the_round_trip_in_either_case(program: tuple[int, bytes]) -> None:
    text = encode_segwit(*program)
    assert is_address("bitcoin", text)
    assert is_address("bitcoin", text.upper())


@given(st.integers(0, 255), st.binary(min_size=20, max_size=20))
def test_base58_addresses_are_those_of_the_two_main_net_versions(version: int, digest: bytes) -> None:
    text = base58.b58encode_check(bytes([version]) + digest).decode()
    assert is_address("bitcoin", text) == (version in (0, 5))


@settings(max_examples=300)
@given(st.sampled_from(["stellar", "celo", "bitcoin"]), st.text(max_size=100))
def test_no_string_makes_the_check_raise(network: str, text: str) -> None:
    assert is_address(network, text) in (True, False)
    assert is_address(network, f"bc1{text}") in (True, False)


@pytest.mark.parametrize("network", ["stellar", "bitcoin"])
def test_one_wrong_character_is_always_found(network: str) -> None:
    text = VALID[network][0]
    for place in range(len(text)):
        for letter in "2A7Q":
            damaged = text[:place] + letter + text[place + 1 :]
            assert is_address(network, damaged) == (damaged == text)


@pytest.mark.parametrize(
    ("network", "text", "valid"),
    [
        ("stellar", "a1" * 32, True),
        ("bitcoin", "A1" * 32, True),
        ("celo", "0x" + "a1" * 32, True),
        ("celo", "a1" * 32, False),
        ("stellar", "0x" + "a1" * 32, False),
        ("bitcoin", "a1" * 31, False),
        ("bitcoin", "a1" * 32 + "\n", False),
        ("stellar", "g1" * 32, False),
    ],
)
def test_a_transaction_hash_has_the_shape_of_its_network(network: str, text: str, valid: bool) -> None:
    """Decision S16."""
    assert is_tx_hash(network, text) == valid


class TestGeneration:
    @staticmethod
    def draw(world: World, network: str, environment: str = "sandbox") -> str:
        with world.change(Cause("test", "draw")):
            return new_address(world, network, environment)

    @pytest.mark.parametrize("network", ["stellar", "celo", "bitcoin"])
    def test_passes_the_check_of_its_network(self, network: str) -> None:
        world = make_world(ROOM)
        assert all(is_address(network, self.draw(world, network)) for _ in range(20))

    def test_stellar_has_one_account_per_environment_and_seed(self) -> None:
        world, other = make_world(ROOM), make_world(ROOM, seed=2)
        account = self.draw(world, "stellar")
        assert self.draw(world, "stellar") == account
        assert len({account, self.draw(world, "stellar", "production"), self.draw(other, "stellar")}) == 3

    @pytest.mark.parametrize(("network", "prefix", "length"), [("celo", "0x", 42), ("bitcoin", "bc1q", 42)])
    def test_other_networks_give_a_fresh_address_each_time(self, network: str, prefix: str, length: int) -> None:
        world = make_world(ROOM)
        drawn = [self.draw(world, network) for _ in range(20)]
        assert len(set(drawn)) == 20
        assert all(text.startswith(prefix) and len(text) == length for text in drawn)

    @pytest.mark.parametrize("network", ["stellar", "celo", "bitcoin"])
    def test_repeats_itself_in_a_world_of_the_same_seed(self, network: str) -> None:
        first, second = make_world(ROOM), make_world(ROOM, world_id="another")
        for _ in range(3):
            assert self.draw(first, network) == self.draw(second, network)

    @pytest.mark.parametrize(("network", "prefix"), [("stellar", ""), ("celo", "0x"), ("bitcoin", "")])
    def test_a_transaction_hash_is_64_hex_digits(self, network: str, prefix: str) -> None:
        world = make_world(ROOM)
        with world.change(Cause("test", "draw")):
            first, second = new_tx_hash(world, network), new_tx_hash(world, network)
        assert first != second
        assert first.startswith(prefix)
        digits = first[len(prefix) :]
        assert len(digits) == 64
        assert set(digits) <= set("0123456789abcdef")
        assert is_tx_hash(network, first)

    def test_a_memo_is_a_whole_number_that_fits_into_64_bits(self) -> None:
        world = make_world(ROOM)
        with world.change(Cause("test", "draw")):
            memos = [new_memo(world) for _ in range(50)]
        assert len(set(memos)) == 50
        assert all(str(int(memo)) == memo and 0 < int(memo) < 2**64 for memo in memos)


TEST_NET = (
    "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx",
    "TB1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KXPJZSX",
    "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn",
    "n2eMqTT929pb1RDNuqEnxdaLau1rxy3efi",
    "2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc",
)


@pytest.mark.parametrize("text", TEST_NET)
def test_r6_only_the_sandbox_takes_test_net_addresses(text: str) -> None:
    assert is_address("bitcoin", text, "sandbox")
    assert not is_address("bitcoin", text, "production")
    assert not is_address("bitcoin", text[:-1] + ("q" if text[-1] != "q" else "p"), "sandbox")


def test_r6_the_sandbox_takes_main_net_addresses_too() -> None:
    for network, texts in VALID.items():
        assert all(is_address(network, text, "sandbox") for text in texts)
