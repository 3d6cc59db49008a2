"""BOLT #11 invoices, decoded by an independent library; Lightning addresses and lnurl."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import bolt11
import pytest
from bech32 import CHARSET, bech32_encode
from bolt11 import Bolt11, MilliSatoshi, Tag, TagChar, Tags
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.engine.records.records import present
from simulator.providers.ramp.deposit_wallets.invoices import (
    MAX_AMOUNT_SATS,
    decode_invoice,
    encode_invoice,
    encode_lnurl,
    is_lightning_address,
)
from tests.unit.ramp.deposit_wallets.support import decoded_bech32, regrouped

KEY = sha256(b"node").digest()
HASH = sha256(b"preimage").hexdigest()
SECRET = sha256(b"secret").hexdigest()
AT = 1_767_600_000


def write(**changes: Any) -> str:
    values: dict[str, Any] = {
        "amount_sats": 1000,
        "timestamp": AT,
        "expires_in": 1800,
        "description": "Coffee",
        "payment_hash": bytes.fromhex(HASH),
        "payment_secret": bytes.fromhex(SECRET),
        "node_key": KEY,
    }
    return encode_invoice(**values | changes)


def foreign(
    *, amount_msat: int | None = None, currency: str = "bc", without: Sequence[str] = (), key: bytes = KEY, **more: Any
) -> str:
    """An invoice made by the independent library."""
    values = {TagChar.payment_hash: HASH, TagChar.payment_secret: SECRET, TagChar.description: "Tea"}
    values |= {TagChar[name]: value for name, value in more.items()}
    tags = Tags([Tag(char, value) for char, value in values.items() if char.name not in without])
    invoice = Bolt11(
        currency=currency, date=AT, amount_msat=None if amount_msat is None else MilliSatoshi(amount_msat), tags=tags
    )
    return bolt11.encode(invoice, key.hex(), ignore_exceptions=True, keep_payee=True)


def signed(prefix: str, groups: list[int]) -> str:
    """Any prefix and data with a genuine signature, well formed or not."""
    from coincurve import PrivateKey

    message = prefix.encode() + bytes(regrouped(groups, 5, 8))
    return bech32_encode(prefix, groups + regrouped(PrivateKey(KEY).sign_recoverable(message), 8, 5))


def hash_field(tag: str = "p") -> list[int]:
    return [CHARSET.index(tag), 1, 20, *regrouped(bytes.fromhex(HASH), 8, 5)]


TIME = [1, 20, 0, 0, 0, 0, 0]


@settings(max_examples=60)
@given(
    sats=st.integers(1, MAX_AMOUNT_SATS),
    expires_in=st.integers(1, 31_536_000),
    timestamp=st.integers(0, 2**35 - 1),
    description=st.text(st.characters(exclude_categories=["Cs"]), max_size=150),
    node_key=st.binary(min_size=32, max_size=32).filter(lambda key: 0 < int.from_bytes(key, "big") < 2**255),
)
def test_invoice_contains_the_requested_values(
    sats: int, expires_in: int, timestamp: int, description: str, node_key: bytes
) -> None:
    """Decision S13: an independent library reads what was asked."""
    text = write(
        amount_sats=sats, expires_in=expires_in, timestamp=timestamp, description=description, node_key=node_key
    )
    ours, theirs = decode_invoice(text), bolt11.decode(text)
    assert (ours.amount_sats, ours.amount_msat) == (sats, sats * 1000)
    assert ours.created_at_ms == timestamp * 1000
    assert ours.expires_at_ms == (timestamp + expires_in) * 1000
    assert (ours.description, ours.description_hash) == (description, None)
    assert (ours.payment_hash, ours.payment_secret) == (HASH, SECRET)
    assert (theirs.amount_msat, theirs.date, theirs.expiry) == (sats * 1000, timestamp, expires_in)
    assert (present(theirs.tags.get(TagChar.description)).data, theirs.payment_hash) == (description, HASH)
    assert (theirs.payment_secret, theirs.payee) == (SECRET, ours.payee)


@settings(max_examples=40)
@given(
    msat=st.none() | st.integers(1, 10**14 - 1),  # the library writes multiples of 1000 BTC wrong
    expire_time=st.integers(1, 10**7),
    payee=st.booleans(),
)
def test_foreign_invoices_can_be_decoded(msat: int | None, expire_time: int, payee: bool) -> None:
    plain = bolt11.decode(foreign(amount_msat=msat))
    extra: dict[str, Any] = {"payee": plain.payee} if payee else {}
    found = decode_invoice(foreign(amount_msat=msat, expire_time=expire_time, **extra))
    assert found.amount_msat == msat
    assert found.amount_sats == (None if msat is None else -(-msat // 1000))
    assert found.expires_at_ms == (AT + expire_time) * 1000
    assert (found.description, found.payee) == ("Tea", plain.payee)


@settings(max_examples=60)
@given(at=st.integers(0, 300), letter=st.sampled_from(CHARSET))
def test_changed_character_is_detected(at: int, letter: str) -> None:
    text = write()
    at %= len(text)
    changed = text[:at] + letter + text[at + 1 :]
    if changed != text:
        with pytest.raises(ValueError, match="checksum"):
            decode_invoice(changed)


@settings(max_examples=100)
@given(st.text(max_size=40) | st.text(CHARSET, max_size=300).map(lambda data: "lnbc1" + data))
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="checksum"):
        decode_invoice(text)


def test_signing_is_deterministic_and_the_prefix_is_the_shortest() -> None:
    assert write() == write()
    assert write().startswith("lnbc10u1")
    assert write(amount_sats=1).startswith("lnbc10n1")
    assert write(amount_sats=250_000).startswith("lnbc2500u1")
    assert write(amount_sats=2_000_000).startswith("lnbc20m1")
    assert write(amount_sats=100_000_000).startswith("lnbc11")


def test_an_invoice_declares_the_payment_secret_as_required() -> None:
    decoded = bolt11.decode(write(), strict=True)
    assert present(decoded.features).readable == {"var_onion_optin": "required", "payment_secret": "required"}
    assert decoded.min_final_cltv_expiry == 18


def test_an_invoice_without_description_has_an_empty_one() -> None:
    text = write(description="")
    assert decode_invoice(text).description == ""
    assert bolt11.decode(text).description == ""


def test_a_description_of_639_bytes_fits_and_a_longer_one_is_hashed() -> None:
    assert decode_invoice(write(description="x" * 639)).description == "x" * 639
    text = write(description="é" * 320)
    found = decode_invoice(text)
    assert found.description is None
    assert found.description_hash == sha256(("é" * 320).encode()).hexdigest()
    assert bolt11.decode(text).description_hash == found.description_hash


def test_a_timestamp_beyond_35_bits_stays_at_the_largest() -> None:
    assert decode_invoice(write(timestamp=2**40)).created_at_ms == (2**35 - 1) * 1000


def test_an_invoice_in_upper_case_is_read_and_in_mixed_case_refused() -> None:
    assert decode_invoice(write().upper()) == decode_invoice(write())
    with pytest.raises(ValueError, match="bech32"):
        decode_invoice("LNBC" + write()[4:])


def test_an_invoice_without_amount_expiry_or_secret_is_read() -> None:
    found = decode_invoice(foreign(without=("payment_secret",)))
    assert found.amount_sats is None
    assert found.expires_at_ms == (AT + 3600) * 1000
    assert found.payment_secret is None


@pytest.mark.parametrize("currency", ["tb", "bcrt", "tbs"])
def test_invoices_of_other_networks_are_refused(currency: str) -> None:
    with pytest.raises(ValueError, match="prefix"):
        decode_invoice(foreign(currency=currency))


@pytest.mark.parametrize("prefix", ["lnbc10x", "lnbc0u", "lnbc01u", "lnbcu", "lnbc9999999999999999999", "bc", "lnurl"])
def test_other_prefixes_are_refused(prefix: str) -> None:
    with pytest.raises(ValueError, match="prefix"):
        decode_invoice(signed(prefix, TIME + hash_field()))


def test_an_amount_finer_than_a_millisatoshi_is_refused() -> None:
    assert decode_invoice(signed("lnbc20p", TIME + hash_field())).amount_msat == 2
    with pytest.raises(ValueError, match="millisatoshi"):
        decode_invoice(signed("lnbc25p", TIME + hash_field()))


def test_an_invoice_without_payment_hash_is_refused() -> None:
    with pytest.raises(ValueError, match="payment hash"):
        decode_invoice(foreign(without=("payment_hash",)))


def test_fields_of_a_wrong_length_and_unknown_ones_are_skipped() -> None:
    short_hash = [1, 0, 2, 0, 0]
    unknown = [10, 0, 1, 7]
    assert decode_invoice(signed("lnbc", TIME + short_hash + unknown + hash_field())).payment_hash == HASH


def test_a_second_field_of_a_kind_does_not_count() -> None:
    later = [1, 1, 20, *regrouped(bytes(32), 8, 5)]
    assert decode_invoice(signed("lnbc", TIME + hash_field() + later)).payment_hash == HASH


@pytest.mark.parametrize("tail", [[1], [1, 0], [13, 0, 5, 1], [1, 31, 31]])
def test_a_field_that_is_cut_off_is_refused(tail: list[int]) -> None:
    with pytest.raises(ValueError, match="cut off"):
        decode_invoice(signed("lnbc", TIME + hash_field() + tail))


def test_a_text_too_short_to_be_signed_is_refused() -> None:
    with pytest.raises(ValueError, match="short"):
        decode_invoice(bech32_encode("lnbc", TIME))


def test_an_unknown_required_feature_is_refused_and_an_optional_one_is_not() -> None:
    def feature(bit: int) -> list[int]:
        groups = bit // 5 + 1
        return [5, groups // 32, groups % 32, 1 << bit % 5, *[0] * (groups - 1)]

    assert decode_invoice(signed("lnbc", TIME + hash_field() + feature(99))).payment_hash == HASH
    with pytest.raises(ValueError, match="feature 100"):
        decode_invoice(signed("lnbc", TIME + hash_field() + feature(100)))


def test_invalid_signature_is_refused() -> None:
    groups = TIME + hash_field() + regrouped(b"\xff" * 64 + b"\x00", 8, 5)
    with pytest.raises(ValueError, match="signature is not valid"):
        decode_invoice(bech32_encode("lnbc", groups))


def test_invalid_recovery_flag_is_refused() -> None:
    groups = decoded_bech32(write())[1]
    flag = [*regrouped(groups[-104:], 5, 8)[:64], 9]
    with pytest.raises(ValueError, match="signature is not valid"):
        decode_invoice(bech32_encode("lnbc10u", groups[:-104] + regrouped(flag, 8, 5)))


def test_a_payee_who_did_not_sign_is_refused() -> None:
    other = bolt11.decode(foreign(key=sha256(b"other").digest())).payee
    with pytest.raises(ValueError, match="payee"):
        decode_invoice(foreign(payee=other))


def test_a_description_that_is_not_utf8_is_refused() -> None:
    with pytest.raises(ValueError, match="utf-8"):
        decode_invoice(signed("lnbc", TIME + hash_field() + [13, 0, 2, 31, 31]))


@pytest.mark.parametrize("text", ["a@b.co", "user.name-1_x+tag@pay.example.com", "x" * 64 + "@pay.simulator.test"])
def test_lightning_addresses_are_recognised(text: str) -> None:
    assert is_lightning_address(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "user",
        "@pay.example.com",
        "user@",
        "user@localhost",
        "User@pay.example.com",
        "us er@pay.example.com",
        "user@pay..com",
        "user@-pay.example.com",
        "user@pay.example.com\n",
        "user@@pay.example.com",
        "x" * 65 + "@pay.example.com",
        "user@" + "a." * 130 + "com",
    ],
)
def test_other_strings_are_not_lightning_addresses(text: str) -> None:
    assert not is_lightning_address(text)


def test_an_lnurl_is_the_bech32_of_its_url() -> None:
    prefix, groups = decoded_bech32(encode_lnurl("https://pay.example.com/.well-known/lnurlp/ada"))
    assert prefix == "lnurl"
    assert bytes(regrouped(groups, 5, 8, pad=False)).decode() == "https://pay.example.com/.well-known/lnurlp/ada"


def test_r6_only_the_sandbox_reads_invoices_of_the_test_net() -> None:
    text = foreign(currency="tb", amount_msat=50_000_000)
    assert text.startswith("lntb")
    assert decode_invoice(text, "sandbox").amount_sats == 50_000
    with pytest.raises(ValueError, match="prefix"):
        decode_invoice(text, "production")
