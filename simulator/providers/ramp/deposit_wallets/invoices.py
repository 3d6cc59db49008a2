"""Lightning payment requests: encoding and decoding BOLT #11 invoices, Lightning addresses and lnurl (decision S13).

An invoice is a bech32 string. Its prefix contains the amount (`lnbc2500u`). After the prefix, groups of five bits
encode a timestamp, tagged fields and a recoverable secp256k1 signature. Signing is deterministic (RFC 6979). The
elliptic curve library is imported on first use, to keep start-up fast.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256

import bech32

from simulator.kernel.dataclass import dataclass
from simulator.kernel.patterns import compile_late

DEFAULT_EXPIRY_SECONDS = 3600
"""The default lifetime of an invoice in seconds. Invoices created through the API always state their lifetime."""

MAX_AMOUNT_SATS = 21_000_000 * 100_000_000
"""The maximum number of bitcoins that will ever exist."""

_MIN_FINAL_CLTV_EXPIRY = 18
_MAX_DESCRIPTION_BYTES = 639
_MAX_TIMESTAMP = 2**35 - 1
_SIGNATURE_GROUPS = 104
_TIMESTAMP_GROUPS = 7
_HASH_GROUPS = 52
_PAYEE_GROUPS = 53
_FEATURES = 1 << 8 | 1 << 14
"""The feature bits for a variable-length onion and a payment secret. Invoices with a payment secret must set both."""
_KNOWN_EVEN_FEATURES = frozenset({8, 14, 16, 24, 48})
_PICO_PER_MSAT = 10
_MULTIPLIERS = (("", 10**12), ("m", 10**9), ("u", 10**6), ("n", 10**3), ("p", 1))
_PICO_PER = dict(_MULTIPLIERS)
_PREFIX = compile_late(r"(lnbc|lntb)(?:([1-9][0-9]{0,17})([munp]?))?")
_ADDRESS = compile_late(r"[a-z0-9._+-]{1,64}@(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}")


@dataclass(frozen=True, slots=True)
class DecodedInvoice:
    """The contents of a decoded invoice."""

    amount_msat: int | None
    """None if the payer may choose the amount."""
    created_at_ms: int
    expires_at_ms: int
    payment_hash: str
    payment_secret: str | None
    description: str | None
    description_hash: str | None
    payee: str
    """The compressed public key."""

    @property
    def amount_sats(self) -> int | None:
        """The amount in whole satoshis, rounded up. None if the invoice has no amount."""
        return None if self.amount_msat is None else -(-self.amount_msat // 1000)


def encode_invoice(
    *,
    amount_sats: int,
    timestamp: int,
    expires_in: int,
    description: str,
    payment_hash: bytes,
    payment_secret: bytes,
    node_key: bytes,
) -> str:
    """Return a signed mainnet invoice.

    `timestamp` is in seconds since 1970, `expires_in` is in seconds, and `node_key` has 32 bytes. A description longer
    than 639 bytes is replaced by its hash, as the standard requires.
    """
    from coincurve import PrivateKey

    text = description.encode()
    is_short = len(text) <= _MAX_DESCRIPTION_BYTES
    about = _field("d", _groups(text)) if is_short else _field("h", _groups(sha256(text).digest()))
    data = [
        *_number(min(timestamp, _MAX_TIMESTAMP), _TIMESTAMP_GROUPS),
        *_field("p", _groups(payment_hash)),
        *_field("s", _groups(payment_secret)),
        *about,
        *_field("x", _number(expires_in)),
        *_field("c", _number(_MIN_FINAL_CLTV_EXPIRY)),
        *_field("9", _number(_FEATURES)),
    ]
    prefix = "lnbc" + _amount(amount_sats)
    signature = PrivateKey(node_key).sign_recoverable(_signed(prefix, data))
    return bech32.bech32_encode(prefix, data + _groups(signature))


def decode_invoice(text: str, environment: str = "production") -> DecodedInvoice:
    """Return the contents of an invoice. Raise `ValueError` if its prefix, checksum, signature or a field is invalid.

    The sandbox also accepts bitcoin testnet invoices (`lntb`) (decision R6).
    """
    prefix, data = bech32.bech32_decode(text)
    if prefix is None or data is None:
        raise ValueError("it is not a bech32 string, or its checksum is wrong")
    match = _PREFIX.fullmatch(prefix)
    if match is None or (match[1] == "lntb" and environment != "sandbox"):
        raise ValueError(f"{prefix!r} is not the prefix of an invoice on the bitcoin network")
    if len(data) < _TIMESTAMP_GROUPS + _SIGNATURE_GROUPS:
        raise ValueError("it is too short to be signed")
    body, signature = data[:-_SIGNATURE_GROUPS], _octets(data[-_SIGNATURE_GROUPS:])
    fields = _known_fields(body[_TIMESTAMP_GROUPS:])
    if "p" not in fields:
        raise ValueError("it has no payment hash")
    features = _value(fields.get("9", ()))
    unknown = [
        bit for bit in range(0, features.bit_length(), 2) if features >> bit & 1 and bit not in _KNOWN_EVEN_FEATURES
    ]
    if unknown:
        raise ValueError(f"it requires the unknown feature {unknown[0]}")
    created_at = _value(body[:_TIMESTAMP_GROUPS])
    expiry = _value(fields["x"]) if "x" in fields else DEFAULT_EXPIRY_SECONDS
    return DecodedInvoice(
        amount_msat=_amount_msat(match[2], match[3]),
        created_at_ms=created_at * 1000,
        expires_at_ms=(created_at + expiry) * 1000,
        payment_hash=_octets(fields["p"]).hex(),
        payment_secret=_octets(fields["s"]).hex() if "s" in fields else None,
        description=_octets(fields["d"]).decode() if "d" in fields else None,
        description_hash=_octets(fields["h"]).hex() if "h" in fields else None,
        payee=_payee(_signed(prefix, body), signature, fields.get("n")),
    )


def is_lightning_address(text: str) -> bool:
    """Return True if a string has the form of a Lightning address: name@domain in lower case."""
    return _ADDRESS.fullmatch(text) is not None


def encode_lnurl(url: str) -> str:
    """Return a URL in bech32 form, `lnurl1…`."""
    return bech32.bech32_encode("lnurl", _groups(url.encode()))


def _amount(sats: int) -> str:
    """Return an amount as in an invoice prefix, with the largest multiplier that divides it without a remainder."""
    pico = sats * 1000 * _PICO_PER_MSAT
    multiplier, size = next((name, size) for name, size in _MULTIPLIERS if pico % size == 0)
    return f"{pico // size}{multiplier}"


def _amount_msat(digits: str | None, multiplier: str | None) -> int | None:
    if digits is None:
        return None
    msat, rest = divmod(int(digits) * _PICO_PER[multiplier or ""], _PICO_PER_MSAT)
    if rest:
        raise ValueError("its amount is more precise than a millisatoshi")
    return msat


def _known_fields(groups: Sequence[int]) -> dict[str, Sequence[int]]:
    """Return the first occurrence of each tagged field. Hashes and keys with the wrong length are skipped."""
    lengths = {"p": _HASH_GROUPS, "s": _HASH_GROUPS, "h": _HASH_GROUPS, "n": _PAYEE_GROUPS}
    fields: dict[str, Sequence[int]] = {}
    for tag, content in _fields(groups):
        if len(content) == lengths.get(tag, len(content)):
            fields.setdefault(tag, content)
    return fields


def _fields(groups: Sequence[int]) -> Iterator[tuple[str, Sequence[int]]]:
    at = 0
    while at < len(groups):
        end = at + 3 + _value(groups[at + 1 : at + 3])
        if at + 3 > len(groups) or end > len(groups):
            raise ValueError("a field is cut off")
        yield bech32.CHARSET[groups[at]], groups[at + 3 : end]
        at = end


def _payee(message: bytes, signature: bytes, named: Sequence[int] | None) -> str:
    """Return the public key that signed the invoice. Raise `ValueError` if the invoice names another, or none did."""
    from coincurve import PublicKey

    try:
        signer: str = PublicKey.from_signature_and_message(signature, message).format().hex()
    except Exception as error:  # the library raises exceptions of several types, including plain `Exception`
        raise ValueError("its signature is not valid") from error
    if named is not None and _octets(named).hex() != signer:
        raise ValueError("its signature does not match the payee's public key")
    return signer


def _signed(prefix: str, data: Sequence[int]) -> bytes:
    """Return the bytes that are signed: the prefix, then the data padded with zero bits to whole bytes."""
    return prefix.encode() + bytes(bech32.convertbits(data, 5, 8) or ())


def _field(tag: str, content: list[int]) -> list[int]:
    return [bech32.CHARSET.index(tag), *_number(len(content), 2), *content]


def _groups(octets: bytes) -> list[int]:
    return bech32.convertbits(octets, 8, 5) or []


def _octets(groups: Sequence[int]) -> bytes:
    """Convert groups of five bits to bytes. The zero bits that pad the last group are dropped."""
    octets = bytes(bech32.convertbits(groups, 5, 8) or ())
    return octets[: len(groups) * 5 // 8]


def _number(value: int, length: int = 0) -> list[int]:
    """Return a number as `length` groups of five bits, or as few groups as possible, most significant group first."""
    count = length or max(1, -(-value.bit_length() // 5))
    return [value >> 5 * place & 31 for place in reversed(range(count))]


def _value(groups: Sequence[int]) -> int:
    value = 0
    for group in groups:
        value = value << 5 | group
    return value
