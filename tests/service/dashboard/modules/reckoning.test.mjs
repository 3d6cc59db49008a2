// What panels reckon without a document: signatures, balances, forms of what may be several sorts.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

const at = (name) => import(`../../../../simulator/dashboard/page/js/${name}.js`);
const { balanceOver, text, units } = await at("decimal");
const { header, hmac, shellLine, verdict } = await at("signature");
const { sortOf, valueOf } = await at("schema");
const { about, effect, often, texts, begins } = await at("faults");
const { marks, place, ticks } = await at("axis");

const KEY = "whk_key", BODY = '{"name":"it\'s Ünal","n":1}', SENT = 1_767_600_000_000;
const signed = (timestamp, body = BODY) => createHmac("sha256", KEY).update(`${timestamp}.${body}`).digest("hex");
const request = (timestamp, signature = signed(timestamp)) => ({ headers: { "X-Timestamp": String(timestamp), "X-Signature": signature }, body: BODY, key: KEY, sentMs: SENT });

test("the browser's signature is that of every other language", async () => {
  assert.equal(await hmac(KEY, `${SENT}.${BODY}`), signed(SENT));
});

test("a genuine request verifies, an old or forged one does not, and it says why", async () => {
  assert.equal((await verdict(request(SENT))).verifies, true);
  const old = await verdict(request(SENT - 600_000));
  assert.equal(old.verifies, false);
  assert.match(old.why, /^the signature matches, but the timestamp is 10 min old/);
  assert.match((await verdict(request(SENT + 600_000))).why, /10 min ahead/);
  const forged = await verdict(request(SENT, "0".repeat(64)));
  assert.deepEqual([forged.verifies, forged.expected], [false, signed(SENT)]);
  assert.match((await verdict({ ...request(SENT), headers: {} })).why, /missing/);
});

test("where it is not known when it was sent, the signature alone is judged", async () => {
  assert.equal((await verdict({ ...request(SENT - 600_000), sentMs: null })).verifies, true);
});

test("the line for a shell prints the same signature, whatever the body has", () => {
  const printed = execFileSync("sh", ["-c", shellLine(request(SENT))], { env: { ...process.env, WEBHOOK_KEY: KEY } }).toString();
  assert.match(printed, new RegExp(`${signed(SENT)}\\s*$`));
});

test("a header is found in whatever letters it is written", () => {
  assert.equal(header({ "x-signature": "one" }, "x-signature"), "one");
  assert.equal(header({ "X-Signature": "one" }, "x-signature"), "one");
});

test("amounts are reckoned exactly", () => {
  assert.equal(text(units("0.1") + units("0.2")), "0.3");
  assert.equal(text(units("-1000.50")), "-1000.5");
  assert.equal(text(units("123456789012345678901234567890.000000000000000001")), "123456789012345678901234567890.000000000000000001");
  assert.throws(() => units("1e5"), RangeError);
});

test("a balance over time leads to what is held now, also where older entries are not shown", () => {
  const move = (at, amount) => ({ at, postings: [{ account: "available", currency: "KES", amount }, { account: "world", currency: "KES", amount: "7" }] });
  const points = balanceOver("120.5", [move("1", "100"), move("2", "-0.5"), { at: "3", postings: [] }, move("4", "21")], "available", "KES");
  assert.deepEqual(points.map((point) => [point.at, point.amount]), [[null, "0"], ["1", "100"], ["2", "99.5"], ["4", "120.5"]]);
  assert.equal(balanceOver("120.5", [move("4", "21")], "available", "KES")[0].amount, "99.5");
});

test("a text may mean a flag or a number where several sorts are allowed", () => {
  const path = { anyOf: [{ type: "boolean" }, { type: "string" }, { type: "null" }] }, span = { anyOf: [{ type: "string" }, { type: "number" }] };
  assert.equal(sortOf(path), "either");
  assert.deepEqual(["true", "data.0.status", ""].map((one) => valueOf(path, one)), [true, "data.0.status", undefined]);
  assert.deepEqual(["2s", "1.5"].map((one) => valueOf(span, one)), ["2s", 1.5]);
  assert.deepEqual(valueOf({ type: "array", items: { type: "string" } }, "one, two three"), ["one", "two", "three"]);
});

test("a fault is said in words", () => {
  const lost = { match: { method: "POST", path: "/quotes" }, drop: true, after_commit: true, times: 1 };
  assert.equal(`${about(lost)} ${effect(lost)}, ${often(lost)}`, "POST /quotes loses its response, after the work is committed, once");
  const late = { webhook: { event: "quote.expired" }, deliver: { delay: "10m", copies: 2 }, probability: 0.5, skip: 2 };
  assert.equal(`${about(late)}: ${effect(late)}, ${often(late)}`, "deliveries of quote.expired: is delayed by 10m of simulated time, is sent 2 times, after 2 unaffected, every time, with probability 0.5");
  assert.equal(`${about({ match: {} })} ${effect({ match: {}, unknown_enum: true })}`, "every call has an unknown enum");
});

test("a form begins with a preset, once", () => {
  assert.deepEqual(begins({ fault: { drop: true } }), { match: { method: "POST", path: "/quotes/*/confirm" }, drop: true, times: 1 });
  assert.deepEqual(begins({ fault: { deliver: { copies: 3 } } }), { webhook: {}, deliver: { copies: 3 }, times: 1 });
});

test("a fault fills a form and comes back from it", () => {
  assert.deepEqual(texts({ match: { path: "/quotes" }, respond: { status: 503 }, drop: true }), { "match.path": "/quotes", "respond.status": "503", drop: "true" });
});

test("on the axis of time the present is in the middle, and what is near together is one mark", () => {
  const day = 86_400_000;
  assert.equal(place(5, 5, day), 50);
  assert.equal(place(day, 0, day), 98);
  assert.equal(place(-day, 0, day), 2);
  assert.ok(place(1000, 0, day) > 52, "a second ahead is seen beside a day");
  const found = marks([{ at: 60_000 }, { at: 60_010 }, { at: day }], (row) => row.at, 0, day);
  assert.deepEqual(found.map((one) => one.rows.length), [2, 1]);
  const shown = ticks(day);
  assert.deepEqual([shown.length % 2, shown[(shown.length - 1) / 2].text, shown.at(-1).text], [1, "now", "+1 d"]);
});
