// What the dashboard's modules reckon without a document: texts of values, addresses, forms, lines for a shell.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

const at = (name) => import(`../../../../simulator/dashboard/page/js/${name}.js`);
const { distance, money, nowOf, shortTime, span, toneOf } = await at("format");
const { href, parse } = await at("routes");
const { curl, quoted } = await at("curl");
const { meaningOf, objectOf, plain, sortOf, valueOf } = await at("schema");

test("a moment is as short as it is clear", () => {
  const now = "2026-01-05T08:00:00.000Z";
  assert.equal(shortTime("2026-01-05T07:59:01.000Z", now), "07:59:01");
  assert.equal(shortTime("2026-02-14T07:59:01.000Z", now), "14 Feb 07:59");
  assert.equal(shortTime("2027-01-05T08:00:00.000Z", now), "5 Jan 2027");
  assert.equal(distance("2026-01-05T10:30:00.000Z", now), "in 2 h 30 min");
  assert.equal(distance("2026-01-02T08:00:00.000Z", now), "3 d ago");
  assert.equal(distance(now, now), "now");
  assert.equal(span(400), "400 ms");
});

test("a running clock is reckoned on, a manual one stands", () => {
  const state = { now: "2026-01-05T08:00:00.000Z", rate: 60, readAt: 1000 };
  assert.equal(nowOf({ ...state, mode: "manual" }, 2000), Date.parse(state.now));
  assert.equal(nowOf({ ...state, mode: "real" }, 2000), Date.parse(state.now) + 1000);
  assert.equal(nowOf({ ...state, mode: "scaled" }, 2000), Date.parse(state.now) + 60_000);
});

test("amounts keep their digits", () => {
  assert.equal(money("1234567.500"), "1,234,567.500");
  assert.equal(money("-1000"), "-1,000");
  assert.equal(money("0.00000001"), "0.00000001");
  assert.equal(money("much"), "much");
});

test("statuses are told apart, also those that nothing is known of", () => {
  assert.deepEqual(["completed", "failed", "refunded", "processing", "awaiting_payment", "expired", "new"].map(toneOf), ["good", "bad", "back", "moving", "waiting", "ended", "plain"]);
  assert.deepEqual([200, 404, 503, 0].map(toneOf), ["good", "warning", "bad", "bad"]);
});

test("an address leads back to where it was made", () => {
  for (const id of ["txn_1", "a/b", "50%", "x?y#z", "ü"]) {
    assert.deepEqual(parse(href("resources", id, { status: "a&b", none: "" })), { panel: "resources", rest: [id], query: { status: "a&b" } });
  }
  assert.deepEqual(parse(""), { panel: "", rest: [], query: {} });
  assert.deepEqual(parse("#txn_1"), { panel: "resources", rest: ["txn_1"], query: {} });
  assert.deepEqual(parse("#/requests/%E0%A4"), { panel: "requests", rest: ["%E0%A4"], query: {} });
});

test("a shell gets the words that were meant", () => {
  for (const word of ["plain", "it's", "$(reboot)", "a b", "`x`", '"', "\n", "", "!!"]) {
    assert.equal(execFileSync("sh", ["-c", `printf %s ${quoted(word)}`]).toString(), word);
  }
});

test("a call as curl has its body and key, and its token from the environment", () => {
  const headers = { authorization: "Bearer ***", "content-type": "application/json", "Idempotency-Key": "k 1", "user-agent": "x" };
  const line = curl({ method: "POST", path: "/v1/quotes", query: "a=1", headers, body: { note: "it's" } }, "http://h:1");
  assert.equal(line, `curl -sS -X POST 'http://h:1/v1/quotes?a=1' -H "Authorization: Bearer $TOKEN" -H 'content-type: application/json' -H 'Idempotency-Key: k 1' --data-raw '{"note":"it'\\''s"}'`);
});

test("a form sends what its schema says", () => {
  const schema = { properties: {
    name: { type: "string" }, times: { anyOf: [{ type: "integer" }, { type: "null" }], description: "how often" }, on: { type: "boolean" },
    respond: { $ref: "#/R" }, list: { type: "array" }, sort: { enum: ["a", 2] },
  } };
  const resolve = () => ({ type: "object", properties: { status: { type: "integer" } } });
  assert.deepEqual(objectOf(schema, { name: "x", times: "3", on: "false", "respond.status": "503", list: "[1]", sort: "2" }, resolve),
    { name: "x", times: 3, on: false, respond: { status: 503 }, list: [1], sort: 2 });
  assert.deepEqual(objectOf(schema, { name: "" }, resolve), {});
  assert.equal(plain(schema.properties.times).description, "how often");
  assert.equal(sortOf({ type: ["integer", "null"] }), "integer");
  assert.throws(() => valueOf({ type: "array" }, "{", "list"), /list is not valid JSON/);
  assert.throws(() => valueOf({ type: "integer" }, "many", "times"), /times: many is not a number/);
});

test("a value has the meaning in its place", () => {
  const schema = { enum: ["a", null, 2], "x-enum-descriptions": ["First.", "Second."] };
  assert.deepEqual(["a", "2", "other", undefined].map((value) => meaningOf(schema, value)), ["First.", "Second.", undefined, undefined]);
  assert.equal(meaningOf({ enum: ["a"] }, "a"), undefined);
});

test("a call is made again with what it had, but for the world, its token and perhaps its key", async () => {
  globalThis.location = new URL("http://127.0.0.1/_simulator/dashboard");
  globalThis.sessionStorage = { getItem: () => null };
  const { headersOf, keyOf, whyNot } = await at("replay");
  const row = { operation: "create_quote", headers: { host: "h", "Content-Type": "application/json", "idempotency-key": "k", "X-Simulator-World": "w", "x-simulator-scenario": "s", authorization: "Bearer ***" } };
  assert.equal(keyOf(row), "k");
  assert.deepEqual(headersOf(row, "t", "k"), { "Content-Type": "application/json", "x-simulator-scenario": "s", Authorization: "Bearer t", "Idempotency-Key": "k" });
  assert.equal("Idempotency-Key" in headersOf(row, "t", null), false);
  assert.equal(whyNot(row), "");
  assert.match(whyNot({ operation: "create_token", headers: {} }), /keys/);
  assert.match(whyNot({ operation: null, headers: {} }), /path/);
});
