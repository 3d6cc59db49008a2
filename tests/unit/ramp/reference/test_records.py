"""The fixed tables contain the values from the decisions."""

from __future__ import annotations

from decimal import Decimal

import pytest

from simulator.engine.rows.error import ApiError
from simulator.providers.ramp.reference import (
    ASSETS,
    BANKS,
    COUNTRIES,
    COUNTRY_OF,
    FIATS,
    LISTINGS,
    NETWORK_ASSETS,
    PROVIDER_CODES,
    PROVIDERS,
    RAMP_ASSETS,
    asset,
    currency_of,
    fiat,
    has_method,
    require_account_number,
    require_bank,
    shapes,
)
from simulator.providers.ramp.reference.rates import FIXED


def test_countries_and_their_currencies() -> None:
    """Decision R1."""
    assert COUNTRIES == {"KE": "KES", "TZ": "TZS", "NG": "NGN", "ZA": "ZAR", "ZM": "ZMW"}
    assert {code: country for country, code in COUNTRIES.items()} == COUNTRY_OF
    assert {code: currency.decimals for code, currency in FIATS.items()} == dict.fromkeys(COUNTRY_OF, 2)


def test_assets_by_network_and_their_precision() -> None:
    """Decision H8: the decimals of each currency."""
    assert RAMP_ASSETS == {"stellar": ("XLM", "USDC"), "celo": ("CELO", "USDT", "USDC", "CUSD")}
    assert NETWORK_ASSETS == {**RAMP_ASSETS, "bitcoin": ("BTC",)}
    decimals = {"stellar": 7, "celo": 6, "bitcoin": 8}
    assert {key: currency.decimals for key, currency in ASSETS.items()} == {
        (code, network): decimals[network] for network, codes in NETWORK_ASSETS.items() for code in codes
    }
    assert all(currency.network == network for (_, network), currency in ASSETS.items())


def test_lookups_answer_none_for_what_does_not_exist() -> None:
    assert asset("USDC", "celo") is ASSETS["USDC", "celo"]
    assert asset("XLM", "celo") is None
    assert fiat("KES") is FIATS["KES"]
    assert fiat("USD") is None


def test_a_record_names_its_currency_by_code_and_network() -> None:
    assert currency_of("KES", None) is FIATS["KES"]
    assert currency_of("USDC", "celo") is ASSETS["USDC", "celo"]
    with pytest.raises(KeyError):
        currency_of("USDC", None)


@pytest.mark.parametrize("code", ["KES", "TZS", "NGN", "ZMW"])
def test_both_methods_work_outside_south_africa(code: str) -> None:
    """Decision R1."""
    assert has_method(code, "mobile_money")
    assert has_method(code, "bank_transfer")


def test_south_africa_has_bank_transfer_only() -> None:
    """Decision R1."""
    assert has_method("ZAR", "bank_transfer")
    assert not has_method("ZAR", "mobile_money")
    assert not has_method("KES", "cash")
    assert not has_method("USD", "bank_transfer")


def test_providers_by_country() -> None:
    """Decision R2."""
    assert {country: tuple(found) for country, found in PROVIDERS.items()} == {
        "KE": ("mpesa", "airtel"),
        "TZ": ("mpesa", "airtel", "tigopesa", "halopesa"),
        "NG": ("mtn", "airtel"),
        "ZA": (),
        "ZM": ("mtn", "airtel", "zamtel"),
    }
    assert sorted(PROVIDER_CODES) == ["airtel", "halopesa", "mpesa", "mtn", "tigopesa", "zamtel"]


def test_banks_by_country() -> None:
    """Decision R3."""
    assert {country: tuple(found) for country, found in BANKS.items()} == {
        "KE": ("01", "03", "11", "12", "68"),
        "TZ": ("NMB", "CRDB", "NBC", "STANBIC", "EQUITY"),
        "NG": ("058", "044", "057", "011", "033"),
        "ZA": ("250655", "632005", "051001", "198765", "470010"),
        "ZM": ("01", "02", "04", "06", "19"),
    }
    assert len({(row.country, row.name) for rows in BANKS.values() for row in rows.values()}) == 25


@pytest.mark.parametrize(
    ("country", "shortest", "longest"), [("NG", 10, 10), ("KE", 10, 14), ("TZ", 10, 14), ("ZA", 7, 11), ("ZM", 10, 13)]
)
def test_account_numbers_have_the_digits_of_their_country(country: str, shortest: int, longest: int) -> None:
    """Decision R3."""
    assert {(row.min_digits, row.max_digits) for row in BANKS[country].values()} == {(shortest, longest)}
    wrong = ("1" * (shortest - 1), "1" * (longest + 1), "1" * (shortest - 1) + "x", "١" * shortest)
    for length in range(shortest, longest + 1):
        require_account_number(country, "1" * length, "account_number")
    for text in wrong:
        with pytest.raises(ApiError, match=f"an account number in {country} must have"):
            require_account_number(country, text, "account_number")


def test_an_unknown_bank_is_refused() -> None:
    """Decision R3."""
    assert require_bank("KE", "01", "bank_code").code == "01"
    for country, code in (("KE", "99"), ("XX", "01")):
        with pytest.raises(ApiError, match="There is no bank"):
            require_bank(country, code, "bank_code")


@pytest.mark.parametrize("key", ASSETS)
def test_everyday_amounts_lie_inside_the_listing_limits(key: tuple[str, str]) -> None:
    """Decision M13."""
    row = LISTINGS[key]
    dollar = FIXED[f"swap:USDC.{'celo' if key == ('USDC', 'stellar') else 'stellar'}:{ASSETS[key].key}"]
    amounts = [20 * dollar, 50 * dollar]
    amounts += {"BTC": [Decimal("0.00001"), Decimal("0.001")], "CELO": [Decimal(60)], "XLM": []}.get(
        key[0], [Decimal(10), Decimal(50)]
    )
    assert all(row.min_withdraw <= amount <= row.max_withdraw for amount in amounts)


def test_the_overview_names_every_bank_provider_country_and_currency() -> None:
    """Decision R3: each bank with its name."""
    shown = shapes.reference_data()
    assert list(shown) == ["banks", "providers", "countries", "currencies"]
    assert {"country": "NG", "bank_code": "058", "bank_name": "Guaranty Trust Bank"}.items() <= shown["banks"][
        10
    ].items()
    assert [len(shown[name]) for name in shown] == [25, 11, 5, 12]
    assert {"country": "ZA", "name": "South Africa", "fiat_currency": "ZAR", "methods": ["bank_transfer"]} in shown[
        "countries"
    ]
