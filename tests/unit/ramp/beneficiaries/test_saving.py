"""POST /beneficiaries: the saved fields, and every refusal with its param (decisions H4, H5, R1 to R4, R6)."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.engine.records.records import find
from simulator.engine.rows.error import ApiError
from simulator.engine.rows.operation import Call
from simulator.engine.server import pipeline
from simulator.kernel.world import World
from simulator.providers.ramp import beneficiaries, reference
from simulator.providers.ramp.beneficiaries import beneficiary
from simulator.providers.ramp.reference import BANKS, COUNTRIES, PROVIDERS
from tests.support import BENEFICIARY, CELO, STELLAR, event_types, find_operation, invoke, make_world

ROOMS = (reference.ROOM, beneficiaries.ROOM)
CREATE = find_operation(ROOMS, "POST", "/beneficiaries")

BITCOIN = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"

BANK = {
    "type": "bank_account",
    "name": "Ada Obi",
    "country": "NG",
    "fiat_currency": "NGN",
    "bank_account": {"bank_code": "058", "account_number": "0123456789", "account_name": "ADA OBI"},
}
PHONE = BENEFICIARY
WALLET = {
    "type": "wallet_address",
    "name": "Treasury",
    "wallet_address": {"wallet_address": STELLAR, "network": "stellar", "asset": "USDC", "memo": "42"},
}
ACCOUNTS = {"KE": "0" * 10, "TZ": "0" * 14, "NG": "0" * 10, "ZA": "0" * 7, "ZM": "0" * 13}
PHONES = {"KE": "+254722000000", "TZ": "+255754000000", "NG": "+2348031000002", "ZM": "+260971000000"}
_ABSENT: Any = object()


@pytest.fixture
def world() -> World:
    return make_world(*ROOMS)


def without(body: dict[str, Any], path: str) -> dict[str, Any]:
    return changed(body, path, _ABSENT)


def changed(body: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    first, _, rest = path.partition(".")
    if rest:
        return body | {first: changed(body[first], rest, value)}
    kept = {name: member for name, member in body.items() if name != first}
    return kept if value is _ABSENT else body | {first: value}


def refusal(world: World, body: dict[str, Any]) -> tuple[int, str, str | None]:
    before = world.store.tables()
    with pytest.raises(ApiError) as raised:
        invoke(world, CREATE, body)
    assert world.store.tables() == before
    return raised.value.status, raised.value.code, raised.value.param


def test_a_bank_account_is_answered_with_its_banks_name(world: World) -> None:
    saved = invoke(world, CREATE, BANK)
    assert saved.pop("id").startswith("ben_")
    assert saved == {
        "type": "bank_account",
        "name": "Ada Obi",
        "country": "NG",
        "fiat_currency": "NGN",
        "details": {
            "bank_code": "058",
            "bank_name": BANKS["NG"]["058"].name,
            "account_number": "0123456789",
            "account_name": "ADA OBI",
        },
        "created_at": "2026-01-05T08:00:00.000Z",
    }


def test_a_phone_number_is_answered_with_its_provider(world: World) -> None:
    saved = invoke(world, CREATE, PHONE)
    assert (saved["country"], saved["fiat_currency"]) == ("KE", "KES")
    assert saved["details"] == {"phone_number": "+254722000000", "provider": "mpesa"}


def test_a_wallet_address_has_neither_country_nor_fiat_currency(world: World) -> None:
    saved = invoke(world, CREATE, WALLET | {"country": "KE", "fiat_currency": "KES"})
    assert (saved["country"], saved["fiat_currency"]) == (None, None)
    assert saved["details"] == {"wallet_address": STELLAR, "network": "stellar", "asset": "USDC", "memo": "42"}


@pytest.mark.parametrize("memo", [_ABSENT, None, ""])
def test_a_memo_not_given_is_the_empty_string(world: World, memo: Any) -> None:
    """Decision H19."""
    assert invoke(world, CREATE, changed(WALLET, "wallet_address.memo", memo))["details"]["memo"] == ""


def test_saving_emits_beneficiary_created_with_the_resource(world: World) -> None:
    saved = invoke(world, CREATE, PHONE)
    assert event_types(world) == ["beneficiary.created"]
    assert next(world.journal.events()).object_id == saved["id"]


def test_the_same_recipient_can_be_saved_twice(world: World) -> None:
    assert invoke(world, CREATE, PHONE)["id"] != invoke(world, CREATE, PHONE)["id"]


@pytest.mark.parametrize(("country", "code"), [(country, code) for country in BANKS for code in BANKS[country]])
def test_every_listed_bank_is_accepted_in_its_country(world: World, country: str, code: str) -> None:
    """Decision R3."""
    account = {"bank_code": code, "account_number": ACCOUNTS[country], "account_name": "A"}
    body = BANK | {"country": country, "fiat_currency": COUNTRIES[country], "bank_account": account}
    assert invoke(world, CREATE, body)["details"]["bank_name"] == BANKS[country][code].name


@pytest.mark.parametrize(("country", "code"), [(country, code) for country in PHONES for code in PROVIDERS[country]])
def test_every_listed_provider_is_accepted_in_its_country(world: World, country: str, code: str) -> None:
    """Decision R2."""
    phone = {"phone_number": PHONES[country], "provider": code}
    body = PHONE | {"country": country, "fiat_currency": COUNTRIES[country], "phone_number": phone}
    assert invoke(world, CREATE, body)["details"] == phone


@pytest.mark.parametrize(
    ("network", "asset", "address"),
    [
        ("stellar", "XLM", STELLAR),
        ("stellar", "USDC", STELLAR),
        ("celo", "CELO", CELO),
        ("celo", "USDT", CELO),
        ("celo", "USDC", CELO),
        ("celo", "CUSD", CELO),
        ("celo", "cUSD", CELO),
        ("btc", "BTC", BITCOIN),
    ],
)
def test_every_asset_is_accepted_on_its_network_and_answered_as_sent(
    world: World, network: str, asset: str, address: str
) -> None:
    """Decision H5: `CUSD` and `cUSD`, answered as sent."""
    sent = {"wallet_address": address, "network": network, "asset": asset}
    assert invoke(world, CREATE, WALLET | {"wallet_address": sent})["details"] == sent | {"memo": ""}


@pytest.mark.parametrize(
    ("body", "path"),
    [
        *((BANK, path) for path in ("type", "name", "country", "fiat_currency", "bank_account")),
        *((BANK, f"bank_account.{field}") for field in ("bank_code", "account_number", "account_name")),
        *((PHONE, path) for path in ("type", "name", "country", "fiat_currency", "phone_number")),
        *((PHONE, f"phone_number.{field}") for field in ("phone_number", "provider")),
        *((WALLET, path) for path in ("type", "name", "wallet_address")),
        *((WALLET, f"wallet_address.{field}") for field in ("wallet_address", "network", "asset")),
    ],
)
@pytest.mark.parametrize("value", [_ABSENT, None])
def test_a_missing_field_is_named_by_its_dotted_path(world: World, body: dict[str, Any], path: str, value: Any) -> None:
    """Decision H4."""
    assert refusal(world, changed(body, path, value)) == (400, "missing_parameter", path)


def test_an_empty_body_misses_the_type_first(world: World) -> None:
    assert refusal(world, {}) == (400, "missing_parameter", "type")


def test_a_details_object_of_another_type_does_not_count(world: World) -> None:
    body = without(BANK, "bank_account") | {"phone_number": PHONE["phone_number"]}
    assert refusal(world, body) == (400, "missing_parameter", "bank_account")


@pytest.mark.parametrize(
    ("body", "path", "value"),
    [
        (BANK, "type", "iban"),
        (BANK, "type", 3),
        (BANK, "type", ["bank_account"]),
        (BANK, "name", 3),
        (BANK, "name", ""),
        (BANK, "country", "US"),
        (BANK, "country", "ng"),
        (BANK, "fiat_currency", 3),
        (BANK, "bank_account", "058"),
        (BANK, "bank_account", []),
        (BANK, "bank_account.bank_code", 58),
        (BANK, "bank_account.account_number", 123456789),
        (BANK, "bank_account.account_number", "123456789"),
        (BANK, "bank_account.account_number", "12345678901"),
        (BANK, "bank_account.account_number", "012345678x"),
        (BANK, "bank_account.account_number", "٠١٢٣٤٥٦٧٨٩"),
        (BANK, "bank_account.account_number", ""),
        (BANK, "bank_account.account_name", ""),
        (PHONE, "country", "ke"),
        (PHONE, "phone_number", "+254722000000"),
        (PHONE, "phone_number.phone_number", 254722000000),
        (PHONE, "phone_number.provider", True),
        (WALLET, "wallet_address", STELLAR),
        (WALLET, "wallet_address.wallet_address", 7),
        (WALLET, "wallet_address.network", "bitcoin"),
        (WALLET, "wallet_address.network", "STELLAR"),
        (WALLET, "wallet_address.network", "solana"),
        (WALLET, "wallet_address.asset", 7),
        (WALLET, "wallet_address.memo", 42),
    ],
)
def test_a_malformed_value_is_an_invalid_parameter(world: World, body: dict[str, Any], path: str, value: Any) -> None:
    assert refusal(world, changed(body, path, value)) == (400, "invalid_parameter", path)


@pytest.mark.parametrize(
    ("country", "shortest", "longest"), [("KE", 10, 14), ("TZ", 10, 14), ("NG", 10, 10), ("ZA", 7, 11), ("ZM", 10, 13)]
)
def test_account_numbers_have_the_length_of_their_country(
    world: World, country: str, shortest: int, longest: int
) -> None:
    """Decision R3."""

    def body(digits: int) -> dict[str, Any]:
        account = {"bank_code": next(iter(BANKS[country])), "account_number": "1" * digits, "account_name": "A"}
        return BANK | {"country": country, "fiat_currency": COUNTRIES[country], "bank_account": account}

    for digits in (shortest, longest):
        assert invoke(world, CREATE, body(digits))["details"]["account_number"] == "1" * digits
    for digits in (shortest - 1, longest + 1):
        assert refusal(world, body(digits)) == (400, "invalid_parameter", "bank_account.account_number")


@pytest.mark.parametrize(
    ("body", "path", "value", "code", "param"),
    [
        (BANK, "fiat_currency", "USD", "unsupported_pair", "fiat_currency"),
        (BANK, "fiat_currency", "KES", "unsupported_pair", "fiat_currency"),
        (BANK, "fiat_currency", "ngn", "unsupported_pair", "fiat_currency"),
        (PHONE, "fiat_currency", "ZAR", "unsupported_pair", "fiat_currency"),
        (BANK, "bank_account.bank_code", "999", "invalid_bank_account", "bank_account.bank_code"),
        (BANK, "bank_account.bank_code", "NMB", "invalid_bank_account", "bank_account.bank_code"),
        (BANK, "bank_account.bank_code", "", "invalid_bank_account", "bank_account.bank_code"),
        *(
            (PHONE, "phone_number.phone_number", text, "invalid_phone_number", "phone_number.phone_number")
            for text in ("0722000000", "254722000000", "+2547220000", "+2348031000002", "+0", "", "\x00", "phone")
        ),
        (PHONE, "phone_number.provider", "tigopesa", "unsupported_pair", "phone_number.provider"),
        (PHONE, "phone_number.provider", "MPESA", "unsupported_provider", "phone_number.provider"),
        (PHONE, "phone_number.provider", "", "unsupported_provider", "phone_number.provider"),
        (WALLET, "wallet_address.asset", "CELO", "unsupported_asset", "wallet_address.asset"),
        (WALLET, "wallet_address.asset", "cUSD", "unsupported_asset", "wallet_address.asset"),
        (WALLET, "wallet_address.asset", "usdc", "unsupported_asset", "wallet_address.asset"),
        *(
            (WALLET, "wallet_address.wallet_address", text, "invalid_wallet_address", "wallet_address.wallet_address")
            for text in (STELLAR.lower(), STELLAR[:-1] + "A", CELO, BITCOIN, "", "\x00")
        ),
    ],
)
def test_a_business_refusal_is_422_and_names_the_field(
    world: World, body: dict[str, Any], path: str, value: str, code: str, param: str
) -> None:
    """Decisions H5, R2, R3 and R4: known elsewhere is unsupported_pair, known nowhere unsupported_provider."""
    assert refusal(world, changed(body, path, value)) == (422, code, param)


def test_mobile_money_is_not_available_in_south_africa(world: World) -> None:
    """Decisions R1 and R2."""
    body = PHONE | {"country": "ZA", "fiat_currency": "ZAR"}
    known = {"phone_number": "+27821234567", "provider": "mpesa"}
    unknown = known | {"provider": "nowhere"}
    assert refusal(world, body | {"phone_number": known}) == (422, "unsupported_pair", "phone_number.provider")
    assert refusal(world, body | {"phone_number": unknown}) == (422, "unsupported_provider", "phone_number.provider")


def test_missing_comes_before_malformed_and_malformed_before_business(world: World) -> None:
    broken = changed(changed(BANK, "fiat_currency", "USD"), "bank_account.account_number", "1")
    assert refusal(world, without(broken, "bank_account.account_name"))[1:] == (
        "missing_parameter",
        "bank_account.account_name",
    )
    assert refusal(world, broken)[1:] == ("invalid_parameter", "bank_account.account_number")
    assert refusal(world, changed(BANK, "fiat_currency", "USD"))[1:] == ("unsupported_pair", "fiat_currency")


def test_the_shape_of_an_account_number_is_checked_before_the_idempotency_step(world: World) -> None:
    call = Call(world, "sandbox", {})
    with pytest.raises(ApiError, match="invalid_parameter"):
        pipeline.validate(CREATE, call, changed(BANK, "bank_account.account_number", "1"), {}, strict=False)
    pipeline.validate(CREATE, call, changed(BANK, "bank_account.bank_code", "999"), {}, strict=False)


def test_members_of_other_types_are_known_also_when_strict(world: World) -> None:
    call = Call(world, "sandbox", {})
    body = WALLET | {"country": None, "fiat_currency": "KES", "bank_account": None}
    assert pipeline.validate(CREATE, call, body, {}, strict=True) == []
    with pytest.raises(ApiError) as raised:
        pipeline.validate(CREATE, call, changed(PHONE, "phone_number.carrier", "x"), {}, strict=True)
    assert (raised.value.code, raised.value.param) == ("invalid_parameter", "phone_number.carrier")


def test_every_refusal_is_declared_by_the_operation() -> None:
    assert set(CREATE.errors) == {
        "unsupported_pair",
        "unsupported_asset",
        "unsupported_provider",
        "invalid_bank_account",
        "invalid_phone_number",
        "invalid_wallet_address",
    }


@pytest.mark.parametrize(
    ("body", "method", "network"),
    [(BANK, "bank_transfer", None), (PHONE, "mobile_money", None), (WALLET, None, "stellar")],
)
def test_other_packages_find_a_beneficiary_with_its_payment_method(
    world: World, body: dict[str, Any], method: str | None, network: str | None
) -> None:
    saved = invoke(world, CREATE, body)
    found = beneficiary(world, "sandbox", saved["id"])
    assert (found.method, found.network, found.kind) == (method, network, "beneficiary")
    assert find(world, saved["id"]) == found


def test_an_unknown_id_in_a_body_is_not_found(world: World) -> None:
    saved = invoke(world, CREATE, PHONE)
    for environment, identifier in (("sandbox", "ben_unknown"), ("production", saved["id"])):
        with pytest.raises(ApiError) as raised:
            beneficiary(world, environment, identifier)
        assert (raised.value.status, raised.value.code, raised.value.param) == (404, "not_found", "beneficiary_id")
    assert find(world, "ben_unknown") is None
