"""Conditions between fields of a request body, by schema: assets with networks, currencies with methods.

A body that breaks one gets 422 (decision H5). Each entry is a list of conditions that must all be true; `any_of` has
alternatives. Only the strict contract has them, so that generated bodies are usually accepted. Limits of amounts are
not included.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from contracts.generator.requests.values import (
    DATE,
    FIAT_DECIMALS,
    FIATS,
    LIGHTNING_ADDRESS,
    MOBILE,
    MOBILE_COUNTRIES,
    PHONES,
    STABLE,
    ZONE,
    address,
    amount,
    decimals_of,
    identifier,
    one,
    phone,
    some,
)
from contracts.generator.schemas import Schema
from simulator.providers.ramp import reference
from simulator.providers.ramp.shapes import short, upper


def fits(fields: Mapping[str, Schema], required: Iterable[str] = ()) -> Schema:
    """A body in which these fields are so; `payer.phone_number` is the field of an object inside."""
    found: Schema = {"properties": {}, **({"required": list(required)} if required else {})}
    for path, schema in fields.items():
        place, _, field = path.rpartition(".")
        inside = found
        for name in filter(None, place.split(".")):
            inside = inside["properties"].setdefault(name, {"properties": {}})
        inside["properties"][field] = schema
    return found


def any_of(ways: Iterable[Schema]) -> Schema:
    return {"anyOf": list(ways)}


_NONE: Schema = {"const": None}
_BY_METHOD = any_of(
    [fits({"method": one("bank_transfer")}), fits({"method": one("mobile_money"), "fiat_currency": some(MOBILE)})]
)


def _placed(networks: Mapping[str, Iterable[str]], at: str = "", asset: str = "symbol") -> Schema:
    """Return the condition that an asset is on its network. `at` is the prefix of both fields (`source.`)."""
    spelled = upper if asset == "symbol" else str
    return any_of(
        fits({f"{at}network": one(spelled(network)), f"{at}{asset}": some(codes)})
        for network, codes in networks.items()
    )


_CODES = tuple(dict.fromkeys(code for code, _ in reference.ASSETS))
_STABLE_ON = {
    network: [code for code in codes if code in STABLE]
    for network, codes in reference.NETWORK_ASSETS.items()
    if set(codes) & set(STABLE)
}


def _counted(networks: Mapping[str, Iterable[str]], asset: str, network: str, fiat: str = "") -> Iterator[Schema]:
    """The amount is in the asset, or in the fiat currency, with the decimals of that (decision H7)."""
    spelled = upper if asset.endswith("symbol") else str
    for name, codes in networks.items():
        for code in codes:
            own = {asset: one(code), network: one(spelled(name)), "amount_currency": one(code)}
            yield fits({**own, "amount": amount(decimals_of(name))})
    for code in FIATS if fiat else ():
        yield fits({fiat: one(code), "amount_currency": one(code), "amount": amount(FIAT_DECIMALS)})


def _sent(at: str = "", asset: str = "") -> Iterator[Schema]:
    """Yield conditions for destinations that match the network. Only bitcoin has Lightning."""
    for network in reference.NETWORK_ASSETS:
        where = {f"{asset}network": one(upper(network)), "amount": amount(decimals_of(network))}
        to_address = {f"{at}destination.type": one("address"), f"{at}destination.address": address(network)}
        yield fits({**where, **to_address})
        others = ["platform_user", *(["lightning"] if network == "bitcoin" else [])]
        yield fits({**where, f"{at}destination.type": some(others)})


def _swapped() -> Iterator[Schema]:
    """Yield conditions for swaps: every asset with every other. The amount has the decimals of its side.

    This is one condition, because schemathesis multiplies the alternatives of several, and gives up at too many.
    """
    for code, network in reference.ASSETS:
        for name, codes in reference.NETWORK_ASSETS.items():
            others = [other for other in codes if (other, name) != (code, network)]
            given = {"from.network": one(upper(network)), "from.symbol": one(code), "to.network": one(upper(name))}
            for side, where in (("from", network), ("to", name)) if others else ():
                counted = {"amount_side": one(side), "amount": amount(decimals_of(where))}
                yield fits({**given, "to.symbol": some(others), **counted})


def _priced() -> Iterator[Schema]:
    """Yield the conditions of the fee calculator for each product."""
    for fiat in FIATS:
        methods = some(["bank_account", *(["phone_number"] if fiat in MOBILE else [])])
        paid = {"amount": amount(FIAT_DECIMALS), "currency": one(fiat), "fiat_currency": one(fiat)}
        paid |= {"payment_method": methods if fiat == "ZMW" else {"enum": [*_values(methods), None]}}
        needed = ("fiat_currency", *(["payment_method"] if fiat == "ZMW" else []))
        for network, codes in reference.RAMP_ASSETS.items():
            onramp = {"product": one("onramp"), "network": one(network), "asset": {"enum": [*codes, None]}}
            yield fits({**paid, **onramp}, (*needed, "network"))
        yield fits({**paid, "product": one("buy"), "asset": _NONE, "network": _NONE, "to_asset": _NONE}, needed)
    for network, codes in reference.NETWORK_ASSETS.items():
        for code in codes:
            held = {"network": one(short(network)), "currency": one(code), "amount": amount(decimals_of(network))}
            held |= {"asset": {"enum": [code, None]}}
            if network in reference.RAMP_ASSETS:
                offramp = {**held, "product": one("offramp"), "fiat_currency": some(FIATS)}
                yield fits(offramp, ("network", "fiat_currency"))
            yield fits({**held, "product": one("send")}, ("network",))
            yield fits({**held, "product": one("swap"), "to_asset": some(_CODES)}, ("network", "to_asset"))
    withdrawn = {"product": one("withdraw"), "currency": some(STABLE), "fiat_currency": some(FIATS), "asset": _NONE}
    yield fits({**withdrawn, "amount": amount(6)}, ("fiat_currency",))
    free = {"product": some(["internal_transfer", "deposit"]), "currency": some(_CODES), "asset": _NONE}
    yield fits({**free, "amount": amount(6)})


def _values(schema: Schema) -> list[str]:
    return list(schema.get("enum", ())) or [schema["const"]]


def _bank_accounts() -> Iterator[Schema]:
    for country, banks in reference.BANKS.items():
        digits = next(iter(banks.values()))
        number = {"type": "string", "pattern": f"^[0-9]{{{digits.min_digits},{digits.max_digits}}}$"}
        account = {"bank_account.bank_code": some(banks), "bank_account.account_number": number}
        yield fits({**_in_country(country), **account})


def _phone_numbers() -> Iterator[Schema]:
    for country, providers in reference.PROVIDERS.items():
        if providers:
            number = {"phone_number.phone_number": phone(country), "phone_number.provider": some(providers)}
            yield fits({**_in_country(country), **number})


def _in_country(country: str) -> dict[str, Schema]:
    return {"country": one(country), "fiat_currency": one(reference.COUNTRIES[country])}


def _wallet_addresses() -> Iterator[Schema]:
    for network, codes in reference.NETWORK_ASSETS.items():
        spelled = [*codes, "cUSD"] if "CUSD" in codes else codes
        where = {"wallet_address.network": one(short(network)), "wallet_address.asset": some(spelled)}
        yield fits({**where, "wallet_address.wallet_address": address(network)})


_EXTERNAL = address("stellar", "celo")
_SCHEDULE = [fits({"start_date": DATE, "timezone": ZONE})]
_USERS = {
    "email": {"type": "string", "format": "email"},
    "phone_number": phone(*PHONES),
    "user_id": {"type": "string", "format": "uuid"},
}
_PAYER = [
    any_of(
        [
            fits({"phone_number": phone(*MOBILE_COUNTRIES)}, ("phone_number",)),
            fits({"account_name": {"type": "string"}}, ("account_name",)),
        ]
    )
]
_CALLED = fits({"url": {"type": "string", "format": "uri", "pattern": "^https?://[A-Za-z0-9]", "maxLength": 2048}})

CONDITIONS: Mapping[str, list[Schema]] = {
    "CreateQuoteRequest": [
        _placed(reference.RAMP_ASSETS, asset="asset"),
        _BY_METHOD,
        any_of(_counted(reference.RAMP_ASSETS, "asset", "network", "fiat_currency")),
    ],
    "ConfirmQuoteRequest": [
        fits({"wallet_address": _EXTERNAL, "refund_address": _EXTERNAL, "beneficiary_id": identifier("ben_")})
    ],
    "ConfirmQuoteRequestPayer": _PAYER,
    "CreateBankAccountBeneficiary": [any_of(_bank_accounts())],
    "CreatePhoneNumberBeneficiary": [any_of(_phone_numbers())],
    "CreateWalletAddressBeneficiary": [any_of(_wallet_addresses())],
    "CalculateFeeRequest": [any_of(_priced())],
    "CreateWalletRequest": [
        any_of(
            [
                fits({"network": one("bitcoin")}),
                fits({"network": some(["stellar", "celo"]), "lightning": {"enum": [False, None]}}),
            ]
        )
    ],
    "UserDestination": [
        any_of(
            fits({other: form if other == name else _NONE for other, form in _USERS.items()}, (name,))
            for name in _USERS
        )
    ],
    "LightningDestination": [
        any_of(
            [
                fits({"invoice": {"type": "string", "pattern": "^lnbc"}}, ("invoice",)),
                fits({"invoice": _NONE, "lightning_address": LIGHTNING_ADDRESS}, ("lightning_address",)),
            ]
        )
    ],
    "EstimateSendRequest": [_placed(reference.NETWORK_ASSETS), any_of(_sent())],
    "SendRequest": [_placed(reference.NETWORK_ASSETS), any_of(_sent())],
    "QuoteSwapRequest": [any_of(_swapped())],
    "SwapRequest": [fits({"quote_id": identifier("sq_")})],
    "QuoteBuyRequest": [
        _placed(reference.NETWORK_ASSETS),
        _BY_METHOD,
        any_of(
            [
                fits({"amount_currency": one("fiat"), "amount": amount(FIAT_DECIMALS)}),
                *(
                    fits(
                        {
                            "amount_currency": one("crypto"),
                            "network": one(upper(name)),
                            "amount": amount(decimals_of(name)),
                        }
                    )
                    for name in reference.NETWORK_ASSETS
                ),
            ]
        ),
    ],
    "BuyRequest": [fits({"quote_id": identifier("bq_")})],
    "BuyRequestPayer": _PAYER,
    "QuoteWithdrawRequest": [
        fits({"beneficiary_id": identifier("ben_")}),
        _placed(_STABLE_ON),
        any_of(_counted(_STABLE_ON, "symbol", "network", "fiat_currency")),
    ],
    "WithdrawRequest": [fits({"quote_id": identifier("wq_")})],
    "CreateRecurringWithdraw": [
        fits({"recipient.beneficiary_id": identifier("ben_")}),
        _placed(_STABLE_ON, "source."),
        any_of(
            [
                *_counted(_STABLE_ON, "source.symbol", "source.network"),
                fits({"amount_currency": some(FIATS), "amount": amount(FIAT_DECIMALS)}),
            ]
        ),
    ],
    "CreateRecurringSend": [
        any_of(_counted(reference.NETWORK_ASSETS, "source.symbol", "source.network")),
        any_of(_sent("recipient.", "source.")),
    ],
    "DailySchedule": _SCHEDULE,
    "WeeklySchedule": _SCHEDULE,
    "MonthlySchedule": _SCHEDULE,
    "End": [
        any_of(
            [
                fits({"type": one("never")}),
                fits({"type": one("on_date"), "date": DATE}, ("date",)),
                fits({"type": one("after_occurrences"), "occurrences": {"type": "integer"}}, ("occurrences",)),
            ]
        )
    ],
    "RestartRecurringPaymentRequest": [fits({"start_date": {**DATE, "type": ["string", "null"]}})],
    "UpdateProfileRequest": [fits({"phone_number": phone(*PHONES)})],
    "CreateWebhookRequest": [_CALLED],
    "UpdateWebhookRequest": [_CALLED],
}
