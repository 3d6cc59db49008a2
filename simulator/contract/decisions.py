"""The decisions on the interface as a whole: what the specification leaves open, chapter by chapter.

Each row: id, what is assumed, why, how to find out against the real service.
"""

from __future__ import annotations

from collections.abc import Mapping

Row = tuple[str, str, str, str]

_CALL = "Make the call against the real sandbox and read status, headers and body."
_TWICE = "Send the same request twice to the real sandbox and compare."
_TIME = "Let the time pass in the real sandbox and fetch the resource again."
_EVENTS = "Subscribe an endpoint to all events in the real sandbox and follow one transaction."
_ASK = "Ask the service's support; it cannot be seen from outside."
_COMPARE = "Compare with a quote or an answer of the real sandbox at the same moment."

_HTTP: tuple[Row, ...] = (
    (
        "H1",
        "A POST that stores something answers 201, every other success with a body 200, every DELETE 204.",
        "The status table lists 200, 201 and 204 without saying which call gives which.",
        _CALL,
    ),
    (
        "H2",
        "Checks run in a fixed order: route, token, gates, the resource in the path, form of the body, missing "
        "fields, malformed values, idempotency, business rules, state.",
        "With two mistakes in one request only an order says which is answered.",
        "Send requests with two mistakes at once.",
    ),
    (
        "H3",
        "A wrong method is 405 with Allow; OPTIONS too, HEAD follows GET, a trailing slash is another path.",
        "The specification does not speak of methods.",
        _CALL,
    ),
    (
        "H4",
        "A missing field is named in `param` by its dotted path; null counts as missing where a field is required "
        "and as absent where it is optional (in PATCH it is a value).",
        "Only the code missing_parameter is given.",
        _CALL,
    ),
    (
        "H5",
        "A value outside its set is malformed (400), except where the specification has a 422 code for it: "
        "networks, assets and fiat currencies that are unknown or do not go together, and event types.",
        "The catalogue has codes of both kinds for the same mistakes.",
        _CALL,
    ),
    (
        "H6",
        "Unknown fields and query parameters are ignored; with the setting `strict` they are 400.",
        "Tolerant readers are the custom; `strict` finds typing mistakes.",
        _CALL,
    ),
    (
        "H7",
        "Amounts are JSON strings of digits with an optional fraction; signs, exponents, JSON numbers and more "
        "decimals than the currency has are 400; zero is amount_too_low.",
        "Only `decimal string` is said.",
        _CALL,
    ),
    (
        "H8",
        "Fiat has 2 decimals, assets on stellar 7, on celo 6, on bitcoin 8; crypto is printed with at least 2 "
        "decimals; rates have at most 10 significant digits.",
        "No precision is given.",
        _COMPARE,
    ),
    (
        "H9",
        "What a customer receives is rounded down, what a customer pays is rounded up.",
        "No rounding is given; this is the custom that never pays out too much.",
        _COMPARE,
    ),
    ("H10", "Timestamps always have milliseconds and end in Z.", "ISO 8601 in UTC allows several forms.", _CALL),
    (
        "H11",
        "Every response carries X-Request-Id, an error envelope the same as request_id.",
        "request_id is optional in the envelope and no header is named.",
        _CALL,
    ),
    (
        "H12",
        "Bodies over 1 MiB, not UTF-8, no JSON object, or nested over 32 deep are 400 invalid_request.",
        "No limits are given.",
        _CALL,
    ),
    ("H13", "A body without a JSON content type is 400 invalid_request.", "Only the header to send is given.", _CALL),
    (
        "H14",
        "Idempotency keys have 1 to 255 printable ASCII characters, hold for 24 hours per account and environment, "
        "and bind 2xx, 404, 409 and 422 answers; a replay is marked Idempotent-Replayed.",
        "How long a key is remembered and what it binds is not shown.",
        _TWICE,
    ),
    (
        "H15",
        "The request rate is not limited unless a setting says so; 429 carries Retry-After in seconds.",
        "The quota is not shown.",
        "Watch for 429 in the real sandbox.",
    ),
    (
        "H16",
        "The simulator serves the sandbox at /v1 and a simulated production at /production/v1.",
        "Base addresses are placeholders in the specification.",
        "The service's documentation names them.",
    ),
    (
        "H17",
        "At the token exchange the prefixes tell the environment first (environment_mismatch), then the pair is "
        "looked up (invalid_credentials); a bad token is always unauthorized.",
        "Two listings of the specification name different codes.",
        _CALL,
    ),
    (
        "H18",
        "Money-moving calls need approved KYC; a suspended profile is refused everywhere but at its own reads; a key "
        "pair may carry permissions.",
        "The permission model is not shown.",
        _ASK,
    ),
    (
        "H19",
        "A response carries the specified fields and those marked assumed; what does not apply is absent, what was "
        "not given is null; the one further code is 409 invalid_state.",
        "Presence of optional fields is not shown.",
        _CALL,
    ),
)

_LISTS: tuple[Row, ...] = (
    (
        "L1",
        "Ties in the order of a list go by creation; updated_at falls back to created_at.",
        "No tie rule is given.",
        "List resources made in the same second.",
    ),
    (
        "L2",
        "The common parameters hold for every list; when size and limit are both sent only size is looked at.",
        "Some rows name fewer parameters.",
        _CALL,
    ),
    (
        "L3",
        "Transactions also know the status pending and all three networks; amount is the source side's; order_id is "
        "part of every transaction.",
        "The filter's list omits pending; how order and transaction relate is not shown.",
        _CALL,
    ),
    (
        "L4",
        "Search looks at order number, transaction id and reference (orders), label, reference and address (wallets), "
        "name and reference (recurring payments).",
        "Fields matched depend on the endpoint and are not all shown.",
        _CALL,
    ),
    (
        "L5",
        "Fee products with no network of their own are listed under every network; the table's order is the default.",
        "null means all networks.",
        _CALL,
    ),
    (
        "L6",
        "Every list answers data and pagination; what is deleted is not listed.",
        "Several list answers are not shown.",
        _CALL,
    ),
)

_MONEY: tuple[Row, ...] = (
    (
        "M1",
        "Rates are fiat per unit of crypto; onramps 1 % above the mid rate, offramps 1 % below, swaps at mid.",
        "The spread is not shown.",
        _COMPARE,
    ),
    (
        "M2",
        "The fee is in the currency of the source side; total = processing_fee (app_fee on wallet operations) + "
        "network_fee.",
        "The currency of the fee is not tied to a side.",
        _COMPARE,
    ),
    ("M3", "Onramp: what is delivered = (source − fee) / rate, rounded down.", "No formula is given.", _COMPARE),
    ("M4", "Offramp: what is delivered = (source − fee) × rate, rounded down.", "No formula is given.", _COMPARE),
    ("M5", "Buy: crypto = (fiat − fee) / rate; exactly that is credited.", "No formula is given.", _COMPARE),
    (
        "M6",
        "Withdraw: fiat = (source − fee) × rate; only USDC, USDT and CUSD can be withdrawn.",
        "`stablecoin` is said of the source.",
        _COMPARE,
    ),
    (
        "M7",
        "Send: the recipient gets the amount less the fee; a Lightning invoice is paid in full, its fee on top.",
        "Who bears the fee is not shown.",
        "Send a small amount and read both balances.",
    ),
    (
        "M8",
        "Swap: the fee is inside the amount; minimum_received = to.amount less the slippage; slippage is above 0 and "
        "at most 50.",
        "No formula is given.",
        _COMPARE,
    ),
    (
        "M9",
        "The quote's fee is the formula of the fee product that fits most closely; the calculator gives the same.",
        "How a product is chosen is not shown.",
        "Compare calculator and quote.",
    ),
    ("M10", "Every movement is a balanced ledger entry.", "The custom of the trade.", _ASK),
    (
        "M11",
        "On-chain sends, swaps and withdrawals hold their amount from creation to completion.",
        "When a balance moves is not shown.",
        "Read the balances while a send is pending.",
    ),
    (
        "M12",
        "Balances are checked on send, swap quote and execution, and withdraw execution; `param` names the amount, "
        "at execution the quote_id.",
        "The error tables of send and withdraw are not shown.",
        _CALL,
    ),
    (
        "M13",
        "Limits of fee products and of the currency listing apply to the source side, bounds included.",
        "The side is not named.",
        _CALL,
    ),
    (
        "M14",
        "Account limits count the fiat side of confirmed ramps, buys and withdrawals and are given back when it "
        "comes to nothing.",
        "What counts is not shown.",
        "Read the limits before and after.",
    ),
)

_STATES: tuple[Row, ...] = (
    (
        "S1",
        "At expires_at itself a quote is expired; an onramp is to be paid until then.",
        "The bound is not named.",
        _TIME,
    ),
    (
        "S2",
        "Swap, buy and withdraw quotes are refused like ramp quotes; withdraw quotes have the prefix wq_.",
        "Only the ramp quote's table is shown.",
        _CALL,
    ),
    ("S3", "A declined payer fails the transaction with payment_failed.", "The edge is not in the table.", _EVENTS),
    ("S4", "The values of failure_code.", "The set is not shown.", _EVENTS),
    (
        "S5",
        "Refunds: ramps and withdrawals with funds received, also after completion, the full amount; never sends, "
        "swaps and buys.",
        "`failed (or on manual request)` leaves it open.",
        _EVENTS,
    ),
    (
        "S6",
        "A short payment or deposit fails at once; what is over is accepted; a wrong asset or memo is not matched.",
        "insufficient_deposit is only a code.",
        "Deposit too little in the real sandbox.",
    ),
    (
        "S7",
        "Buy: pending, processing when paid and credited, completed; a buy that is never paid stays pending.",
        "The moves are not shown.",
        _EVENTS,
    ),
    ("S8", "Swap: pending, then completed or failed.", "The moves are not shown.", _EVENTS),
    (
        "S9",
        "A send to another user is processing and completes at the same instant; on-chain it is pending, broadcast, "
        "completed.",
        "Both first statuses are shown, not when which.",
        _EVENTS,
    ),
    ("S10", "Withdraw: processing, then completed, or failed and refunded.", "The moves are not shown.", _EVENTS),
    ("S11", "What is not yet funded cannot complete.", "It follows from the tables.", _ASK),
    (
        "S12",
        "Deposits are detected, confirmed or failed (with a reason) and make a transaction of type deposit.",
        "The deposit's statuses are named observed, the rest is not shown.",
        "Deposit to a wallet of the real sandbox.",
    ),
    (
        "S13",
        "Lightning entries: usernames, genuine BOLT11 invoices, DELETE disables, payments credit at once.",
        "Only the invoice's table is shown.",
        "Pay a Lightning invoice of the real sandbox.",
    ),
    (
        "S14",
        "Lightning sends have the destination type lightning with invoice or lightning_address.",
        "The type's value and fields are not shown.",
        _ASK,
    ),
    (
        "S15",
        "A disabled wallet takes no new Lightning entries and can be enabled again.",
        "Only disabling is shown.",
        _CALL,
    ),
    (
        "S16",
        "When tx_hash is set: onramp and swap at completion, offramp with the deposit, send at broadcast.",
        "Tables and examples differ.",
        _EVENTS,
    ),
    (
        "S17",
        "Wallet transactions emit processing, completed, failed and refunded, nothing while pending.",
        "Which events come when is not shown.",
        _EVENTS,
    ),
    (
        "S18",
        "Every movement has an order; its statuses and the values of its fields.",
        "One example order is described.",
        "Read an order of each type.",
    ),
    (
        "S19",
        "Recurring payments: counting of runs, local times that do not exist, restarts, the schedule's fields.",
        "The schedule object is not shown.",
        "Let one run for some days.",
    ),
    (
        "S20",
        "What is not possible in the present status is 409 invalid_state; the review must have been fetched; one "
        "recurring payment can be read and deleted.",
        "Those operations and codes are not shown.",
        _CALL,
    ),
    ("S21", "run_upcoming comes 24 hours before, or at once when less is left.", "The short case is open.", _EVENTS),
    (
        "S22",
        "A network that is down refuses what needs it (503); bitcoin has a status too.",
        "Which calls are refused is not shown.",
        "Watch the real service during an incident.",
    ),
    (
        "S23",
        "Unknown ids in a body are 404; exactly one of the three fields of a user destination.",
        "Codes are not tied to them.",
        _CALL,
    ),
    ("S24", "A new phone number takes effect when it is verified.", "Verification is not shown.", _CALL),
    (
        "S25",
        "Profile, KYC and production access belong to the account, all else to the environment.",
        "Only keys and webhooks are said to be separate.",
        _ASK,
    ),
    (
        "S26",
        "A request that no key ties to a world belongs to the default one.",
        "Worlds are the simulator's own.",
        "Nothing to find out.",
    ),
)

_WEBHOOKS: tuple[Row, ...] = (
    ("W1", "One webhook key per account and environment.", "`The webhook key` is said.", "Look into the dashboard."),
    (
        "W2",
        "X-Timestamp is the wall clock, created_at simulated time.",
        "Receivers compare with their own clock.",
        "Nothing to find out.",
    ),
    (
        "W3",
        "Besides public HTTPS addresses the simulator takes those of this machine.",
        "Tests run on this machine.",
        "Nothing to find out.",
    ),
    (
        "W4",
        "Registration sends one signed webhook.test; anything but 200 stores nothing.",
        "The answer to a failed test is not shown.",
        _CALL,
    ),
    (
        "W5",
        "11 attempts within 72 hours; then the endpoint is disabled.",
        "`about` and `repeated failures` are said.",
        "Let an endpoint fail for three days.",
    ),
    ("W6", "First attempts go out in the order of the events.", "Order is not promised.", _EVENTS),
    ("W7", "Every attempt carries the same bytes with a fresh signature.", "Signatures need exact bytes.", _EVENTS),
    (
        "W8",
        "data.object is the full resource; run events also carry `run`.",
        "Payloads other than of transactions are not shown.",
        _EVENTS,
    ),
    (
        "W9",
        "A disabled endpoint gets nothing, planned retries included.",
        "Not shown.",
        "Disable an endpoint with retries.",
    ),
    (
        "W10",
        "A test call answers 200 with the envelope; 409 when the endpoint is disabled.",
        "Its answer is not shown.",
        _CALL,
    ),
    (
        "W11",
        "Events can be sent again from the control interface.",
        "The dashboard has no counterpart in the interface.",
        "Nothing to find out.",
    ),
    ("W12", "The fields of a delivery record.", "They are not shown.", _CALL),
)

_REFERENCE: tuple[Row, ...] = (
    (
        "R1",
        "Bank transfers everywhere, mobile money everywhere but in South Africa.",
        "Availability `varies by country`.",
        "Ask for quotes of each pair.",
    ),
    ("R2", "The mobile money providers of each country.", "No list is given.", "The dashboard lists them."),
    (
        "R3",
        "The banks of each country and the length of their account numbers.",
        "No list is given.",
        "The dashboard lists them.",
    ),
    ("R4", "Phone numbers are judged by the public numbering plans.", "`invalid for the country` is said.", _CALL),
    (
        "R5",
        "What a payer by bank transfer must name, and the instructions for one.",
        "Those fields are not shown.",
        _CALL,
    ),
    ("R6", "Addresses are checked with their checksums.", "`validated against network` is said.", _CALL),
    ("R7", "The record of the currency listing and its filters.", "It is not shown.", _CALL),
    ("R8", "The record of an asset's balance.", "It is not shown.", _CALL),
    ("R9", "Fee products' ids and the fee table itself.", "Fees are indicative in the specification.", _CALL),
)

_SIMULATOR: tuple[Row, ...] = (
    (
        "simulator",
        "The header X-Simulator-Scenario.",
        "Only a simulator has scenarios.",
        "Nothing to find out: the real service ignores it.",
    ),
)

DECISIONS: Mapping[str, tuple[Row, ...]] = {
    "HTTP": _HTTP,
    "Lists": _LISTS,
    "Money": _MONEY,
    "States": _STATES,
    "Webhooks": _WEBHOOKS,
    "Reference data": _REFERENCE,
    "Only in the simulator": _SIMULATOR,
}
