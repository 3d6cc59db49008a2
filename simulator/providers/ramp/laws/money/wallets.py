"""Deposit wallets, their Lightning entries and their deposits."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from simulator.conformance.bench import Bench
from simulator.conformance.laws import Refusal, guess, promise, refusals
from simulator.conformance.service import Answer
from simulator.providers.ramp.laws import stock
from simulator.providers.ramp.laws.money.quotes import instant

WALLET, CHANGE, DEPOSITS = "GET /wallets/{id}", "PATCH /wallets/{id}", "GET /wallets/{id}/deposits"
LIGHTNING, ENTRIES = "POST /wallets/{id}/lightning", "GET /wallets/{id}/lightning"
ASSETS = {"stellar": ["USDC", "XLM"], "celo": ["CELO", "CUSD", "USDC", "USDT"], "bitcoin": ["BTC"]}
ARRIVING = (("stellar", "USDC", "25.1234567"), ("celo", "USDT", "30.123457"), ("bitcoin", "BTC", "0.01234567"))
"""A deposit on each network, using all of the asset's decimals."""
ADDRESS_STARTS = {"stellar": "G", "celo": "0x", "bitcoin": "bc1"}


@promise("wallet.network", "Deposit wallet", "writes")
def network(bench: Bench) -> None:
    """A deposit wallet supports the assets of its network, and its address is on that network."""
    for name, assets in ASSETS.items():
        made = stock.wallet(bench, name)
        bench.equal(made, "network", name)
        held = sorted(made.body["assets"]) == assets
        bench.holds(held, made, f"assets are {made.body['assets']}", "assets")
        address = made.text("address")
        # The sandbox may use a bitcoin test network.
        right = address.startswith(ADDRESS_STARTS[name]) or (name == "bitcoin" and address.startswith("tb1"))
        bench.holds(right and (name != "stellar" or len(address) == 56), made, f"address is {address}", "address")


@promise("wallet.memo", "Deposit wallet: memo, Stellar only", "writes")
def memo(bench: Bench) -> None:
    """Stellar wallets share an address, and each has its own memo. Other wallets have no memo."""
    first, second = stock.wallet(bench, "stellar"), stock.wallet(bench, "stellar")
    held = first.text("memo") != second.text("memo")
    bench.holds(held, second, "two wallets have the same memo", "memo", after=(first,))
    bench.same(second, first, "address")
    for name in ("celo", "bitcoin"):
        made = stock.wallet(bench, name)
        bench.holds(not made.body.get("memo"), made, "only stellar has a memo", "memo")


@promise("wallet.unique_address", "Deposit wallet: celo, unique per wallet", "writes")
def unique_address(bench: Bench) -> None:
    """Each wallet on celo has its own address."""
    first, second = stock.wallet(bench, "celo"), stock.wallet(bench, "celo")
    held = first.text("address") != second.text("address")
    bench.holds(held, second, "two wallets have the same address", "address", after=(first,))


@promise("wallet.request_kept", "Deposit wallet: label, reference", "writes")
def request_kept(bench: Bench) -> None:
    """A wallet has the label and the reference from the request."""
    body = {"network": "celo", "label": "conform", "reference": bench.fresh()}
    bench.echoes(bench.done("POST /wallets", body), body)


@promise("patch.kept", "PATCH /wallets/{id}", "writes")
def patch_kept(bench: Bench) -> None:
    """PATCH /wallets/{id} permanently changes the fields in the request, and no others."""
    made = stock.wallet(bench)
    name = made.text("id")
    changed = bench.done(CHANGE, {"label": "other"}, id=name)
    for answer in (changed, bench.done(WALLET, id=name)):
        bench.equal(answer, "label", "other", after=(made,))
        bench.same(answer, made, "address", "reference", "status", "network")
    disabled = bench.done(CHANGE, {"status": "disabled"}, id=name)
    bench.equal(disabled, "status", "disabled", after=(made,))
    bench.equal(bench.done(WALLET, id=name), "status", "disabled", after=(made, disabled))


@promise("errors.wallet_disabled", "Errors: wallet_disabled", "writes")
def wallet_disabled(bench: Bench) -> None:
    """Requests to add a Lightning entry to a disabled wallet are refused with 409 wallet_disabled."""
    made = stock.wallet(bench, "bitcoin")
    disabled = bench.done(CHANGE, {"status": "disabled"}, id=made.text("id"))
    answer = bench.call(LIGHTNING, {"type": "invoice", "amount_sats": 1000}, id=made.text("id"))
    bench.refused(answer, 409, "wallet_disabled", after=(made, disabled))


@promise("lightning.with_wallet", "POST /wallets: lightning", "writes")
def with_wallet(bench: Bench) -> None:
    """A bitcoin wallet has a Lightning address only if the request that created it set `lightning`."""
    made = stock.wallet(bench, "bitcoin", lightning=True)
    kinds = [entry["type"] for entry in made.body["lightning_addresses"]]
    bench.holds(kinds == ["lightning_address"], made, f"entries are {kinds}", "lightning_addresses")
    bench.equal(stock.wallet(bench, "bitcoin"), "lightning_addresses", [])


def _entry(bench: Bench, **body: object) -> tuple[str, Answer]:
    home = stock.wallet(bench, "bitcoin").text("id")
    return home, bench.done(LIGHTNING, body, id=home)


@promise("lightning.entry", "Lightning entry", "writes")
def entry(bench: Bench) -> None:
    """A Lightning entry contains its wallet and the fields for its type: address and lnurl, or payment request and
    amount.
    """
    user = bench.fresh("u")
    home, address = _entry(bench, type="lightning_address", username=user)
    bench.echoes(address, {"wallet_id": home, "status": "active"})
    bench.holds(address.text("address").startswith(f"{user}@"), address, "another user name", "address")
    body = {"amount_sats": 1500, "description": "coffee"}
    home, invoice = _entry(bench, type="invoice", **body)
    bench.echoes(invoice, {**body, "wallet_id": home, "status": "pending"})
    for made, others in ((address, ("payment_request", "amount_sats")), (invoice, ("lnurl", "address"))):
        for name in others:
            bench.holds(name not in made.body, made, f"{name} belongs to the other type", name)


@promise("lightning.listed", "GET /wallets/{id}/lightning; Wallet with its Lightning addresses", "writes")
def lightning_listed(bench: Bench) -> None:
    """A wallet's Lightning entries are listed. The response for the wallet also contains its Lightning addresses."""
    home, made = _entry(bench, type="lightning_address")
    name, page, wallet = made.text("id"), bench.done(ENTRIES, id=home), bench.done(WALLET, id=home)
    ids = [row["id"] for row in page.items]
    bench.holds(ids == [name], page, f"the list has {ids}", "data", after=(made,))
    ids = [row["id"] for row in wallet.body["lightning_addresses"]]
    bench.holds(name in ids, wallet, f"the wallet has {ids}", "lightning_addresses", after=(made,))


@promise("lightning.disabled", "DELETE /wallets/{id}/lightning/{lightning_id}: Disables the address", "writes")
def lightning_disabled(bench: Bench) -> None:
    """After a Lightning address is deleted, it is not active."""
    home, made = _entry(bench, type="lightning_address")
    gone = bench.call("DELETE /wallets/{id}/lightning/{lightning_id}", id=home, lightning_id=made.text("id"))
    if bench.accepted(gone, 204, after=(made,)):
        page, wallet = bench.done(ENTRIES, id=home), bench.done(WALLET, id=home)
        for answer, place in ((page, "data"), (wallet, "lightning_addresses")):
            held = all(row["status"] != "active" for row in answer.body[place])
            bench.holds(held, answer, "the address is active", place, after=(made, gone))


@promise("invoice.lifetime", "Limits: Lightning invoice lifetime", "writes")
def invoice_lifetime(bench: Bench) -> None:
    """An invoice expires after `expires_in` seconds. The default is 1800."""
    for asked, seconds in (({}, 1800), ({"expires_in": 600}, 600)):
        _, made = _entry(bench, type="invoice", amount_sats=1000, **asked)
        lives = instant(made.text("expires_at")) - instant(made.text("created_at"))
        bench.holds(lives == timedelta(seconds=seconds), made, f"it expires after {lives}", "expires_at")


@promise("invoice.required", "Limits: amount_sats integer, required", "writes")
def invoice_required(bench: Bench) -> None:
    """An invoice requires an amount, which is a whole number of sats."""
    home = stock.wallet(bench, "bitcoin").text("id")
    for amount, code in (({}, "missing_parameter"), ({"amount_sats": "many"}, "invalid_parameter")):
        answer = bench.call(LIGHTNING, {"type": "invoice", **amount}, id=home)
        bench.refused(answer, 400, code, param="amount_sats")


def _shows(bench: Bench, home: str, made: Answer, due: str) -> None:
    """Check that an invoice has the status `due`."""
    page = bench.done(ENTRIES, id=home)
    status = next(str(row["status"]) for row in page.items if row["id"] == made.text("id"))
    bench.holds(status == due, page, f"status is {status}, not {due}", "status", after=(made,))


@promise("invoice.expires", "States: Lightning invoice", "writes", "control")
def invoice_expires(bench: Bench) -> None:
    """An unpaid invoice is pending until it expires."""
    home, made = _entry(bench, type="invoice", amount_sats=1000, expires_in=600)
    bench.world.advance("9m58s")
    _shows(bench, home, made, "pending")
    bench.world.advance("3s")
    _shows(bench, home, made, "expired")


@promise("invoice.paid", "States: Lightning invoice", "writes", "control")
def invoice_paid(bench: Bench) -> None:
    """A paid invoice does not expire. Its payment is listed as a confirmed Lightning deposit to the wallet."""
    home, made = _entry(bench, type="invoice", amount_sats=1000)
    bench.world.act("invoice_paid", made.text("id"))
    bench.world.advance("1h")
    _shows(bench, home, made, "paid")
    _deposits(bench, home, made, channel="lightning", status="confirmed", tx_hash=None, amount=Decimal("0.00001"))


@promise("deposit.way", "Deposit; Other status sets", "writes", "control")
def deposit_way(bench: Bench) -> None:
    """A deposit is listed with its wallet's reference. It is credited after it is confirmed."""
    for network_name, asset, amount in ARRIVING:
        home = stock.wallet(bench, network_name)
        name = home.text("id")
        before = stock.available(bench, asset, network_name.upper())
        arrived = stock.deposit(bench, name, asset, amount)
        reference = home.text("reference")
        seen = _deposits(bench, name, home, id=arrived, asset=asset, wallet_id=name, reference=reference)
        held = stock.available(bench, asset, network_name.upper()) == before
        bench.holds(held, seen, "credited before it was confirmed", "data", after=(home,))
        bench.world.act("deposit_confirms", arrived)
        done = _deposits(bench, name, home, status="confirmed", amount=Decimal(amount), channel="on_chain")
        got = stock.available(bench, asset, network_name.upper()) - before
        bench.holds(got == Decimal(amount), done, f"{got} was credited", "data", after=(home,))


def _deposits(bench: Bench, home: str, made: Answer, **due: object) -> Answer:
    """Check that a wallet has one deposit with these values. Return the list of deposits."""
    page = bench.done(DEPOSITS, id=home)
    found = [{name: Decimal(row[name]) if name == "amount" else row[name] for name in due} for row in page.items]
    bench.holds(found == [due], page, f"deposits are {found}", "data", after=(made,))
    return page


@guess("deposit.detected", "S12", "writes", "control")
def deposit_detected(bench: Bench) -> None:
    """A deposit that is not confirmed yet is listed with the status detected."""
    home = stock.wallet(bench, "celo")
    stock.deposit(bench, home.text("id"), "USDT", "30")
    _deposits(bench, home.text("id"), home, status="detected")


@guess("deposit.transaction", "S12", "writes", "control")
def deposit_transaction(bench: Bench) -> None:
    """A confirmed deposit is a completed transaction with the type deposit."""
    arrived = stock.deposit(bench, stock.wallet(bench, "celo").text("id"))
    bench.world.act("deposit_confirms", arrived)
    page = bench.done("GET /transactions", query={"type": "deposit", "size": 5})
    found = [(row.get("deposit_id"), row["status"], Decimal(row["amount"])) for row in page.items[:1]]
    bench.holds(found == [(arrived, "completed", Decimal(25))], page, f"the newest is {found}", "data")


@promise("deposit.not_credited", "deposit.failed", "writes", "control")
def deposit_not_credited(bench: Bench) -> None:
    """A deposit in a wrong asset, or without the required stellar memo, is not credited."""
    home = stock.wallet(bench, "stellar")
    before = stock.available(bench, "USDC", "STELLAR")
    stock.deposit(bench, home.text("id"), memo="")
    page = bench.done(DEPOSITS, id=home.text("id"))
    states, now = [row["status"] for row in page.items], stock.available(bench, "USDC", "STELLAR")
    bench.holds("confirmed" not in states, page, f"deposits are {states}", "data", after=(home,))
    bench.holds(now == before, page, "it was credited", "data", after=(home,))


unsupported_network = refusals(
    "errors.unsupported_network", "Deposit wallets: 422 unsupported_network",
    "A wallet on an unknown network is refused with 422 unsupported_network.",
    Refusal("422 unsupported_network", "POST /wallets", {"network": "tron"}),
)  # fmt: skip
