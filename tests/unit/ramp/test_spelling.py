"""Network codes (the table "Network code spelling differs by endpoint group")."""

from __future__ import annotations

from simulator.providers.ramp.shapes import DEPOSIT, SHORT, WALLET, short, upper


def test_each_group_of_endpoints_has_its_spelling() -> None:
    assert WALLET == {"STELLAR": "stellar", "CELO": "celo", "BITCOIN": "bitcoin"}
    assert DEPOSIT == {"stellar": "stellar", "celo": "celo", "bitcoin": "bitcoin"}
    assert SHORT == {"stellar": "stellar", "celo": "celo", "btc": "bitcoin"}


def test_a_canonical_name_is_spelt_as_its_group_reads_it() -> None:
    assert {upper(network): network for network in DEPOSIT} == WALLET
    assert {short(network): network for network in DEPOSIT} == SHORT
