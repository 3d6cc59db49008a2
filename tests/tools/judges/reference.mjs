// The reference page in a page of its own (jsdom), as a running server serves it: what its script adds.
// Arguments: the directory with node_modules, the origin of the server. Prints a line for each thing that was seen, and
// at last as JSON the samples it shows: {calls: {operation: {language: text}}, checks: {event: {language: text}}}.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";

const [store, origin] = process.argv.slice(2);
const { JSDOM, VirtualConsole } = createRequire(join(store, "package.json"))("jsdom");
const log = new VirtualConsole();
log.on("jsdomError", (error) => { throw error; });

/** What jsdom lacks and every browser has; here everything is near. */
function lend(window) {
  window.matchMedia = () => ({ matches: false });
  window.scrollBy = () => {};
  window.IntersectionObserver = class {
    constructor(seen) { this.seen = seen; }
    observe(target) { this.seen([{ isIntersecting: true, target }]); }
    unobserve() {}
  };
}

const dom = await JSDOM.fromURL(`${origin}/_simulator/reference.html`, {
  runScripts: "dangerously", resources: "usable", pretendToBeVisual: true, virtualConsole: log, beforeParse: lend,
});
const { document, Event } = dom.window;
if (document.readyState !== "complete") await new Promise((resolve) => dom.window.addEventListener("load", resolve));
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const $ = (id) => document.getElementById(id);
const text = (element) => element.textContent.replace(/\s+/g, " ").trim();
const opened = (details) => new Promise((resolve) => {
  details.addEventListener("toggle", resolve, { once: true });
  details.open = true;
});
const names = (within) => all(":scope > .f > li > b", within).map((name) => name.textContent);

// Parts unfold in place.
const parts = all(":scope details.x", $("confirm_quote"));
const onramp = parts.find((one) => text(one).startsWith("OnrampTransaction"));
await opened(onramp);
assert.ok(["id", "quote_id", "wallet_address", "payment_instructions"].every((name) => names(onramp).includes(name)), text(onramp));
const fee = all("details.x", onramp).find((one) => text(one) === "ProcessingFee");
await opened(fee);
assert.ok(names(fee).includes("network_fee"), text(fee));
console.log("a part unfolds where it stands, and a part of it too");
assert.equal(new Set(all("[id]").map((one) => one.id)).size, all("[id]").length);
console.log("no id stands twice afterwards");

// What a schema shares with another is put in.
assert.deepEqual(all(".same"), []);
assert.ok(names($("schema-OfframpTransaction")).includes("quote_id"));
assert.ok(all('ul[id^="v-"]').every((list) => all(":scope > li > code", list).length > 0));
console.log("shared fields and values stand wherever they belong");

// Codes with their causes, and the way back.
assert.match(text($("confirm_quote").querySelector(".c")), /quote_expired the quote is older than 30 minutes/);
assert.match(text($("code-quote_expired")), /Returned by .*confirm_quote/);
assert.match(text($("code-rate_limited")), /Returned by any call/);
console.log("each code tells its cause and who answers it");

// The contents and their filter.
const filter = $("filter");
const visible = () => all("nav li").filter((item) => !item.hidden).map((item) => item.firstChild.hash);
const before = visible().length;
for (const [typed, found] of [["/quotes/{id}/confirm", "#confirm_quote"], ["transaction.refunded", "#event-transaction.refunded"], ["slippage", "#code-slippage_exceeded"]]) {
  filter.value = typed;
  filter.dispatchEvent(new Event("input"));
  assert.deepEqual(visible(), [found]);
}
filter.value = "no such thing";
filter.dispatchEvent(new Event("input"));
assert.equal(text($("none")), "No matches.");
filter.value = "";
filter.dispatchEvent(new Event("input"));
assert.equal(visible().length, before);
console.log("the filter finds operations by path, events and codes by name");

// One language for all.
await Promise.all(all("section details.e").filter((one) => !one.open).map(opened));
const samples = { calls: {}, checks: {} };
const languages = all("option", document.querySelector("select")).map((option) => option.textContent);
for (const language of languages) {
  const pick = document.querySelector("select");
  pick.value = language;
  pick.dispatchEvent(new Event("change"));
  assert.ok(all("select").every((one) => one.value === language));
  for (const pre of all("pre.call")) (samples.calls[pre.closest("section").id] ??= {})[language] = pre.textContent;
  for (const pre of all("pre[data-t] ~ pre")) (samples.checks[pre.closest("section").id] ??= {})[language] = pre.textContent;
}
console.log("a choice of language is one for the whole page");
console.log(JSON.stringify(samples));
dom.window.close();
