"""Addresses on the three networks (decision R6), transaction hashes, memos (S16), and phone numbers (R4). Every
address must have a valid checksum. Generated values depend only on the world's seed.
"""

from __future__ import annotations

import base64
import binascii
import re
from functools import lru_cache
from hashlib import sha256

import bech32

from simulator.engine.rows.error import invalid
from simulator.kernel.ids import derive
from simulator.kernel.patterns import compile_late
from simulator.kernel.world import World

_STELLAR = compile_late(r"G[A-Z2-7]{55}", re.ASCII)
_STELLAR_ACCOUNT_VERSION = 6 << 3
_EVM = compile_late(r"0x[0-9a-fA-F]{40}", re.ASCII)
_BASE58_DIGITS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BASE58 = compile_late(r"[1-9A-HJ-NP-Za-km-z]{25,35}", re.ASCII)
_SEGWIT = compile_late(r"(bc|tb)1[02-9ac-hj-np-z]{11,87}", re.ASCII)
_INTERNATIONAL = compile_late(r"\+[1-9][0-9]{5,14}", re.ASCII)
_BECH32M = 0x2BC830A3
_SEGWIT_HRP = "bc"
_TEST_NET_HRP = "tb"
_BASE58_VERSIONS = {0: _SEGWIT_HRP, 5: _SEGWIT_HRP, 111: _TEST_NET_HRP, 196: _TEST_NET_HRP}
"""Maps a version byte to the bitcoin network, which is named by its bech32 prefix.

The addresses start with 1 or 3 (mainnet), or with m, n or 2 (testnet).
"""


def is_address(network: str, text: str, environment: str = "production") -> bool:
    """Return True for a valid address on the network, in the sandbox also on the bitcoin testnet."""
    if not text.isascii():
        return False
    if network == "bitcoin":
        return _bitcoin_net(text) in ((_SEGWIT_HRP, _TEST_NET_HRP) if environment == "sandbox" else (_SEGWIT_HRP,))
    check = {"stellar": _is_stellar, "celo": _is_evm}.get(network)
    return check is not None and check(text)


def new_address(world: World, network: str, environment: str = "sandbox") -> str:
    """Return a new receiving address, or on stellar the shared address of the environment."""
    if network == "stellar":
        return _stellar_account(derive("stellar account", world.seed, environment))
    raw = world.streams.draw(f"addresses.{network}")[:20]
    if network == "celo":
        return checksummed(raw.hex())
    return encode_segwit(0, raw)


def new_tx_hash(world: World, network: str) -> str:
    """Return a transaction hash with 64 hex digits. On celo it has the prefix 0x (decision S16)."""
    digits = world.streams.draw(f"tx_hashes.{network}").hex()
    return f"0x{digits}" if network == "celo" else digits


def is_tx_hash(network: str, text: str) -> bool:
    """Return True if a string has the form of a transaction hash on the network (decision S16)."""
    return re.fullmatch(r"0x[0-9a-fA-F]{64}" if network == "celo" else r"[0-9a-fA-F]{64}", text, re.ASCII) is not None


def require_tx_hash(network: str, given: str | None) -> None:
    """Raise `ApiError` invalid_parameter if `tx_hash` is not a transaction hash on the network."""
    if given is not None and not is_tx_hash(network, given):
        raise invalid("tx_hash", f"it is not a valid transaction hash on {network}")


def new_memo(world: World) -> str:
    """Return a stellar memo of type id: a ten-digit number."""
    return str(1_000_000_000 + world.streams.below(9_000_000_000, "memos"))


def encode_stellar(public_key: bytes) -> str:
    """Return the StrKey of an ed25519 public key: version byte, key and CRC16, encoded in base 32."""
    payload = bytes([_STELLAR_ACCOUNT_VERSION]) + public_key
    return base64.b32encode(payload + _crc16(payload)).decode("ascii")


def _crc16(payload: bytes) -> bytes:
    return binascii.crc_hqx(payload, 0).to_bytes(2, "little")


@lru_cache(maxsize=1024)
def _stellar_account(secret: bytes) -> str:
    # A real curve point, because some client libraries check more than the checksum. The module is imported here,
    # because the import is slow.
    from Crypto.PublicKey import ECC

    key = ECC.construct(curve="Ed25519", seed=secret)
    return encode_stellar(key.public_key().export_key(format="raw"))


def _is_stellar(text: str) -> bool:
    if _STELLAR.fullmatch(text) is None:
        return False
    raw = base64.b32decode(text)
    return raw[0] == _STELLAR_ACCOUNT_VERSION and _crc16(raw[:-2]) == raw[-2:]


def checksummed(digits: str) -> str:
    """Return the EIP-55 form of an EVM address. `digits` are its 40 lower-case hex digits."""
    from Crypto.Hash import keccak

    marks = keccak.new(digest_bits=256, data=digits.encode("ascii")).hexdigest()
    return "0x" + "".join(digit.upper() if mark >= "8" else digit for digit, mark in zip(digits, marks, strict=False))


def _is_evm(text: str) -> bool:
    if _EVM.fullmatch(text) is None:
        return False
    digits = text[2:]
    return digits in (digits.lower(), digits.upper()) or checksummed(digits.lower()) == text


def encode_segwit(version: int, program: bytes) -> str:
    """Return the mainnet address of a witness program, in bech32 for version 0 and bech32m for later versions."""
    groups = bech32.convertbits(program, 8, 5)
    assert groups is not None
    data = [version, *groups]
    constant = 1 if version == 0 else _BECH32M
    checksum = bech32.bech32_polymod([*bech32.bech32_hrp_expand(_SEGWIT_HRP), *data, 0, 0, 0, 0, 0, 0]) ^ constant
    digits = [*data, *(checksum >> 5 * (5 - place) & 31 for place in range(6))]
    return f"{_SEGWIT_HRP}1" + "".join(bech32.CHARSET[digit] for digit in digits)


def _bitcoin_net(text: str) -> str:
    """Return the bitcoin network of an address (`bc` or `tb`), or "" if the string is not an address."""
    prefix = text[:3].lower()
    if prefix in ("bc1", "tb1"):
        return prefix[:2] if _is_segwit(text) else ""
    if _BASE58.fullmatch(text) is None:
        return ""
    payload = _base58check(text)
    return _BASE58_VERSIONS.get(payload[0], "") if len(payload) == 21 else ""


def _base58check(text: str) -> bytes:
    """Return the bytes that a base58 string encodes, or b"" if its checksum is wrong."""
    number = 0
    for digit in text:
        number = number * len(_BASE58_DIGITS) + _BASE58_DIGITS.index(digit)
    zeros = len(text) - len(text.lstrip("1"))
    raw = bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8, "big")
    payload, checksum = raw[:-4], raw[-4:]
    return payload if sha256(sha256(payload).digest()).digest().startswith(checksum) else b""


def _is_segwit(text: str) -> bool:
    if text not in (text.lower(), text.upper()) or _SEGWIT.fullmatch(text.lower()) is None:
        return False
    data = [bech32.CHARSET.index(letter) for letter in text.lower()[3:]]
    version = data[0]
    constant = 1 if version == 0 else _BECH32M
    if bech32.bech32_polymod(bech32.bech32_hrp_expand(text[:2].lower()) + data) != constant:
        return False
    program = bech32.convertbits(data[1:-6], 5, 8, False)
    if version > 16 or program is None or not 2 <= len(program) <= 40:
        return False
    return version != 0 or len(program) in (20, 32)


@lru_cache(maxsize=4096)
def is_phone(text: str, country: str | None = None) -> bool:
    """Return True if a string is a valid phone number (`+` and digits), of the country if one is given."""
    if _INTERNATIONAL.fullmatch(text) is None:
        return False
    import phonenumbers  # imported here, because it is large

    try:
        number = phonenumbers.parse(text, None)
    except phonenumbers.NumberParseException:
        return False
    if country is None:
        return phonenumbers.is_valid_number(number)
    return phonenumbers.is_valid_number_for_region(number, country)
