"""Deposit wallets, their Lightning entries, and what arrives in them."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from simulator.conformance.bench import Bench
from simulator.conformance.laws import guess, promise
from simulator.conformance.service import Answer
from simulator.providers.ramp.laws import stock
from simulator.providers.ramp.laws.money.quotes import instant

WALLET, LIGHTNING = "GET /wallets/{id}", "POST /wallets/{id}/lightning"
ASSETS = {"stellar": ["USDC", "XLM"], "celo": ["CELO", "CUSD", "USDC", "USDT"], "bitcoin": ["BTC"]}
ARRIVING = (("stellar", "USDC", "25.1234567"), ("celo", "USDT", "30.123457"), ("bitcoin", "BTC", "0.01234567"))
"""A deposit of each network, down to the last place of its asset."""
ADDRESS_STARTS = {"stellar": "G", "celo": "0x", "bitcoin": "bc1"}


@promise("wallet.network", "Deposit wallet", "writes")
def network(bench: Bench) -> None:
    """A deposit wallet has the assets and the kind of address of its network."""
    for name, assets in ASSETS.items():
        made = stock.wallet(bench, name)
        bench.equal(made, "network", name)
        held = sorted(made.body["assets"]) == assets
        bench.holds(held, made, f"assets are {made.body['assets']}", "assets")
        address = made.text("address")
        # The sandbox may live on a test network of bitcoin.
        right = address.startswith(ADDRESS_STARTS[name]) or (name == "bitcoin" and address.startswith("tb1"))
        bench.holds(right and (name != "stellar" or len(address) == 56), made, f"address is {address}", "address")


@promise("wallet.memo", "Deposit wallet: memo, Stellar only", "writes")
def memo(bench: Bench) -> None:
    """Only a stellar wallet has a memo, its own one, beside the shared address."""
    first, second = stock.wallet(bench, "stellar"), stock.wallet(bench, "stellar")
    bench.holds(first.text("memo") != second.text("memo"), second, "two wallets have one memo", "memo", after=(first,))
    bench.equal(second, "address", first.text("address"), after=(first,))
    for name in ("celo", "bitcoin"):
        made = stock.wallet(bench, name)
        bench.holds(not made.body.get("memo"), made, "a memo is for stellar alone", "memo")


@promise("wallet.unique_address", "Deposit wallet: celo, unique per wallet", "writes")
def unique_address(bench: Bench) -> None:
    """Each wallet on celo has an address of its own."""
    first, second = stock.wallet(bench, "celo"), stock.wallet(bench, "celo")
    held = first.text("address") != second.text("address")
    bench.holds(held, second, "two wallets have one address", "address", after=(first,))


@promise("wallet.request_kept", "Deposit wallet: label, reference", "writes")
def request_kept(bench: Bench) -> None:
    """A wallet has the label and the reference it was given."""
    body = {"network": "celo", "label": "conform", "reference": bench.fresh()}
    made = bench.done("POST /wallets", body)
    for name, value in body.items():
        bench.equal(made, name, value)


@promise("patch.kept", "PATCH /wallets/{id}", "writes")
def patch_kept(bench: Bench) -> None:
    """What PATCH changes stays changed, and the rest as it was."""
    made = stock.wallet(bench)
    name = made.text("id")
    changed = bench.done("PATCH /wallets/{id}", {"label": "other"}, id=name)
    later = bench.done(WALLET, id=name)
    for answer in (changed, later):
        bench.equal(answer, "label", "other", after=(made,))
        bench.same(answer, made, "address", "reference", "status", "network")
    disabled = bench.done("PATCH /wallets/{id}", {"status": "disabled"}, id=name)
    bench.equal(disabled, "status", "disabled", after=(made,))
    bench.equal(bench.done(WALLET, id=name), "status", "disabled", after=(made, disabled))


@promise("errors.wallet_disabled", "Errors: wallet_disabled", "writes")
def wallet_disabled(bench: Bench) -> None:
    """A disabled wallet makes no Lightning entries: 409 wallet_disabled."""
    made = stock.wallet(bench, "bitcoin")
    disabled = bench.done("PATCH /wallets/{id}", {"status": "disabled"}, id=made.text("id"))
    answer = bench.call(LIGHTNING, {"type": "invoice", "amount_sats": 1000}, id=made.text("id"))
    bench.refused(answer, 409, "wallet_disabled", after=(made, disabled))


@promise("errors.unsupported_network", "Deposit wallets: 422 unsupported_network", "writes")
def unsupported_networks(bench: Bench) -> None:
    """A wallet on a network that there is not is refused with 422 unsupported_network."""
    bench.refuses(422, "unsupported_network", "POST /wallets", {"network": "tron"})


@promise("lightning.with_wallet", "POST /wallets: lightning", "writes")
def with_wallet(bench: Bench) -> None:
    """A bitcoin wallet made with lightning has a Lightning address, one made without has none."""
    made = stock.wallet(bench, "bitcoin", lightning=True)
    kinds = [entry["type"] for entry in made.body["lightning_addresses"]]
    bench.holds(kinds == ["lightning_address"], made, f"entries are {kinds}", "lightning_addresses")
    bare = stock.wallet(bench, "bitcoin")
    bench.holds(bare.body["lightning_addresses"] == [], bare, "entries nobody asked for", "lightning_addresses")


def _entry(bench: Bench, **body: object) -> tuple[str, Answer]:
    home = stock.wallet(bench, "bitcoin").text("id")
    return home, bench.done(LIGHTNING, body, id=home)


@promise("lightning.entry", "Lightning entry", "writes")
def entry(bench: Bench) -> None:
    """An entry has what its type has: an address and lnurl, or a payment request with its amount; and its wallet."""
    user = bench.fresh("u")
    home, address = _entry(bench, type="lightning_address", username=user)
    bench.equal(address, "wallet_id", home)
    bench.equal(address, "status", "active")
    bench.holds(address.text("address").startswith(f"{user}@"), address, "another user name", "address")
    home, invoice = _entry(bench, type="invoice", amount_sats=1500, description="coffee")
    bench.equal(invoice, "wallet_id", home)
    bench.equal(invoice, "status", "pending")
    bench.equal(invoice, "amount_sats", 1500)
    bench.equal(invoice, "description", "coffee")
    for made, others in ((address, ("payment_request", "amount_sats")), (invoice, ("lnurl", "address"))):
        for name in others:
            bench.holds(name not in made.body, made, f"{name} belongs to the other type", name)


@promise("lightning.listed", "GET /wallets/{id}/lightning; Wallet with its Lightning addresses", "writes")
def lightning_listed(bench: Bench) -> None:
    """Entries stand in the list of their wallet, addresses in the wallet too."""
    home, made = _entry(bench, type="lightning_address")
    page = bench.done("GET /wallets/{id}/lightning", id=home)
    ids = [row["id"] for row in page.items]
    bench.holds(ids == [made.text("id")], page, f"the list has {ids}", "data", after=(made,))
    wallet = bench.done(WALLET, id=home)
    ids = [row["id"] for row in wallet.body["lightning_addresses"]]
    bench.holds(made.text("id") in ids, wallet, f"the wallet has {ids}", "lightning_addresses", after=(made,))


@promise("lightning.disabled", "DELETE /wallets/{id}/lightning/{lightning_id}: Disables the address", "writes")
def lightning_disabled(bench: Bench) -> None:
    """A Lightning address that was deleted is not active any more."""
    home, made = _entry(bench, type="lightning_address")
    gone = bench.call("DELETE /wallets/{id}/lightning/{lightning_id}", id=home, lightning_id=made.text("id"))
    if bench.accepted(gone, 204, after=(made,)):
        page = bench.done("GET /wallets/{id}/lightning", id=home)
        active = [row["id"] for row in page.items if row["status"] == "active"]
        bench.holds(active == [], page, "the address is active", "data", after=(made, gone))
        wallet = bench.done(WALLET, id=home)
        active = [row["id"] for row in wallet.body["lightning_addresses"] if row["status"] == "active"]
        bench.holds(active == [], wallet, "the address is active", "lightning_addresses", after=(made, gone))


@promise("invoice.lifetime", "Limits: Lightning invoice lifetime", "writes")
def invoice_lifetime(bench: Bench) -> None:
    """An invoice lives 1800 seconds, or as long as was asked."""
    for asked, seconds in (({}, 1800), ({"expires_in": 600}, 600)):
        _, made = _entry(bench, type="invoice", amount_sats=1000, **asked)
        lives = instant(made.text("expires_at")) - instant(made.text("created_at"))
        bench.holds(lives == timedelta(seconds=seconds), made, f"it lives {lives}", "expires_at")


@promise("invoice.required", "Limits: amount_sats integer, required", "writes")
def invoice_required(bench: Bench) -> None:
    """An invoice needs its amount, a whole number of sats."""
    home = stock.wallet(bench, "bitcoin").text("id")
    bench.refused(bench.call(LIGHTNING, {"type": "invoice"}, id=home), 400, "missing_parameter", param="amount_sats")
    text = bench.call(LIGHTNING, {"type": "invoice", "amount_sats": "many"}, id=home)
    bench.refused(text, 400, "invalid_parameter", param="amount_sats")


def _status(bench: Bench, home: str, name: str) -> tuple[Answer, str]:
    page = bench.done("GET /wallets/{id}/lightning", id=home)
    return page, next(str(row["status"]) for row in page.items if row["id"] == name)


@promise("invoice.expires", "States: Lightning invoice", "writes", "control")
def invoice_expires(bench: Bench) -> None:
    """An unpaid invoice is pending until its time is over and expired then."""
    home, made = _entry(bench, type="invoice", amount_sats=1000, expires_in=600)
    bench.world.advance("9m58s")
    page, status = _status(bench, home, made.text("id"))
    bench.holds(status == "pending", page, f"status is {status} before its time", "status", after=(made,))
    bench.world.advance("3s")
    page, status = _status(bench, home, made.text("id"))
    bench.holds(status == "expired", page, f"status is {status} after its time", "status", after=(made,))


@promise("invoice.paid", "States: Lightning invoice", "writes", "control")
def invoice_paid(bench: Bench) -> None:
    """A paid invoice is paid, does not expire, and is a confirmed deposit of its wallet over Lightning."""
    home, made = _entry(bench, type="invoice", amount_sats=1000)
    bench.world.act("invoice_paid", made.text("id"))
    bench.world.advance("1h")
    page, status = _status(bench, home, made.text("id"))
    bench.holds(status == "paid", page, f"status is {status}", "status", after=(made,))
    deposits = bench.done("GET /wallets/{id}/deposits", id=home)
    told = [(row["channel"], row["status"], row["tx_hash"], Decimal(row["amount"])) for row in deposits.items]
    due = [("lightning", "confirmed", None, Decimal("0.00001"))]
    bench.holds(told == due, deposits, f"deposits are {told}", "data", after=(made,))


@promise("deposit.way", "Deposit; Other status sets", "writes", "control")
def deposit_way(bench: Bench) -> None:
    """A deposit is listed with its wallet's reference and is credited when it is confirmed."""
    for network_name, asset, amount in ARRIVING:
        home = stock.wallet(bench, network_name)
        before = _available(bench, asset, network_name)
        found = bench.world.act("deposit_arrives", home.text("id"), asset=asset, amount=amount)["resource"]
        seen = bench.done("GET /wallets/{id}/deposits", id=home.text("id"))
        told = [(row["id"], row["asset"], row["wallet_id"], row["reference"]) for row in seen.items]
        due = [(found["id"], asset, home.text("id"), home.text("reference"))]
        bench.holds(told == due, seen, f"deposits are {told}", "data", after=(home,))
        held = _available(bench, asset, network_name) == before
        bench.holds(held, seen, "credited before it was confirmed", "data", after=(home,))
        bench.world.act("deposit_confirms", found["id"])
        done = bench.done("GET /wallets/{id}/deposits", id=home.text("id"))
        told_status = [(row["status"], Decimal(row["amount"]), row["channel"]) for row in done.items]
        right = [("confirmed", Decimal(amount), "on_chain")]
        bench.holds(told_status == right, done, f"deposits are {told_status}", "data", after=(home,))
        got = _available(bench, asset, network_name) - before
        bench.holds(got == Decimal(amount), done, f"{got} was credited", "data", after=(home,))


@guess("deposit.detected", "S12", "writes", "control")
def deposit_detected(bench: Bench) -> None:
    """A deposit that is seen and not confirmed yet is listed as detected."""
    home = stock.wallet(bench, "celo")
    bench.world.act("deposit_arrives", home.text("id"), asset="USDT", amount="30")
    seen = bench.done("GET /wallets/{id}/deposits", id=home.text("id"))
    told = [row["status"] for row in seen.items]
    bench.holds(told == ["detected"], seen, f"deposits are {told}", "data", after=(home,))


def _available(bench: Bench, symbol: str, network_name: str) -> Decimal:
    return stock.balances(bench)[symbol, network_name.upper()]


@guess("deposit.transaction", "S12", "writes", "control")
def deposit_transaction(bench: Bench) -> None:
    """A confirmed deposit is a completed transaction of type deposit."""
    home = stock.wallet(bench, "celo")
    found = bench.world.act("deposit_arrives", home.text("id"), asset="USDC", amount="25")["resource"]
    bench.world.act("deposit_confirms", found["id"])
    page = bench.done("GET /transactions", query={"type": "deposit", "size": 5})
    told = [(row.get("deposit_id"), row["status"], Decimal(row["amount"])) for row in page.items[:1]]
    bench.holds(told == [(found["id"], "completed", Decimal(25))], page, f"the newest is {told}", "data")


@promise("deposit.not_credited", "deposit.failed", "writes", "control")
def deposit_not_credited(bench: Bench) -> None:
    """A deposit of a wrong asset, or without its stellar memo, is not credited."""
    home = stock.wallet(bench, "stellar")
    before = _available(bench, "USDC", "stellar")
    bench.world.act("deposit_arrives", home.text("id"), asset="USDC", amount="25", memo="")
    page = bench.done("GET /wallets/{id}/deposits", id=home.text("id"))
    states = [row["status"] for row in page.items]
    bench.holds("confirmed" not in states, page, f"deposits are {states}", "data", after=(home,))
    held = _available(bench, "USDC", "stellar") == before
    bench.holds(held, page, "it was credited", "data", after=(home,))


LAWS = (
    network, memo, unique_address, request_kept, patch_kept, wallet_disabled, unsupported_networks, with_wallet,
    entry, lightning_listed, lightning_disabled, invoice_lifetime, invoice_required, invoice_expires, invoice_paid,
    deposit_way, deposit_detected, deposit_transaction, deposit_not_credited,
)  # fmt: skip
