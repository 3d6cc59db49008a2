// The dashboard in a page of its own (jsdom), against a server that runs: what a person does there, and what it then shows.
// Arguments: the directory with node_modules, the origin of the server. Prints a line for each thing that was seen.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";

const [store, origin] = process.argv.slice(2);
const { JSDOM, VirtualConsole } = createRequire(join(store, "package.json"))("jsdom");
const defects = [];
const log = new VirtualConsole();
log.on("jsdomError", (error) => defects.push(String(error.stack || error)));

/** What jsdom lacks and every browser has. */
function lend(window) {
  window.fetch = (path, options) => fetch(new URL(path, origin), { ...options, signal: undefined });
  window.TextDecoderStream = TextDecoderStream;
  window.matchMedia = () => ({ matches: false });
  window.confirm = () => true;
  window.HTMLDialogElement.prototype.showModal = function () { this.open = true; };
  window.HTMLDialogElement.prototype.close = function () { this.open = false; };
}

const dom = await JSDOM.fromURL(`${origin}/_simulator/dashboard`, {
  runScripts: "dangerously", resources: "usable", pretendToBeVisual: true, virtualConsole: log, beforeParse: lend,
});
const { document, Event, MutationObserver } = dom.window;
const $ = (id) => document.getElementById(id);
const text = (id) => $(id).textContent.replace(/\s+/g, " ").trim();

/** Wait until something is seen on the page. */
function seen(what, look) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`not seen: ${what}\n${document.body.textContent}`)), 30_000);
    const check = () => {
      const found = look();
      if (!found) return false;
      watch.disconnect();
      clearTimeout(late);
      console.log(what);
      resolve(found);
      return true;
    };
    const watch = new MutationObserver(check);
    if (!check()) watch.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  });
}
const button = (within, label) => [...within.querySelectorAll("button")].find((one) => one.textContent === label);
const enter = (field, value) => { field.value = value; field.dispatchEvent(new Event("input", { bubbles: true })); };
const submit = (form, with_) => form.requestSubmit(with_ || form.querySelector("button"));
const call = async (method, path, body) => {
  const answer = await fetch(`${origin}/_simulator${path}`, { method, headers: { "Content-Type": "application/json" }, body: body && JSON.stringify(body) });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
  return answer.status === 204 ? null : answer.json();
};
const clock = async () => (await call("GET", "/clock")).now;

await seen("it is live", () => text("live") === "live");
await seen("it shows the keys of the world", () =>
  ["pk_test_simulator", "whk_test_simulator", "whk_live_simulator"].every((key) => text("keys").includes(key)));
await seen("it shows the time", () => /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/.test(text("now")));

// What happens elsewhere is seen without a click.
const { event } = await call("POST", "/trigger", { event: "transaction.awaiting_payment" });
const id = event.data.object.id;
const row = await seen("a new transaction is listed by itself", () => button($("resources"), id));
enter($("resource-filter"), "no such thing");
await seen("the filter hides it", () => !button($("resources"), id));
enter($("resource-filter"), "");
await seen("and shows it again", () => button($("resources"), id));

// The story of a resource, and the actions that are possible.
button($("resources"), id).click();
await seen("its story is told", () => text("story").includes(id) && text("story").includes("awaiting_payment"));
const dialog = $("dialog");
(await seen("the payment can be made to arrive", () => button($("story"), "payment arrives"))).click();
await seen("the action asks for its parameters", () => dialog.open && text("dialog-title") === "payment_arrives");
enter(dialog.querySelector("[name=amount]"), "not a number");
dialog.querySelector("[name=amount]").removeAttribute("pattern");
submit($("dialog-form"), $("dialog-ok"));
await seen("a refusal is told in the dialog, which stays", () => dialog.open && text("dialog-error").includes("amount"));
enter(dialog.querySelector("[name=amount]"), "");
submit($("dialog-form"), $("dialog-ok"));
await seen("the payment arrives", () => !dialog.open && text("message").startsWith("payment_arrives: done"));
await seen("the story goes on by itself", () => text("story").includes("processing"));
await seen("with the events it caused", () => text("events").includes("transaction.processing"));

// The clock.
const before = await clock();
document.querySelector("[data-by='1h']").click();
await seen("the clock goes an hour on", () => text("message").startsWith("Now "));
assert.equal(Date.parse(await clock()) - Date.parse(before), 3_600_000);
enter($("by"), "an hour or so");
submit($("advance-form"));
await seen("a duration that is none is refused", () => $("message").className === "bad" && text("message").includes("by"));
enter($("mode"), "scaled");
enter($("rate"), "60");
submit($("mode-form"));
await seen("the clock can be scaled", () => text("message") === "The clock is scaled.");
enter($("mode"), "manual");
submit($("mode-form"));
await seen("and be stopped again", () => text("message") === "The clock is manual.");

// Scenarios, actions of the world, faults.
enter($("scenario-filter"), "autopilot");
const box = await seen("a scenario is found", () => $("scenarios").querySelector("input"));
assert.equal(box.checked, true);
box.click();
await seen("it can be switched off", () => text("message") === "autopilot is off.");
assert.ok(!(await call("GET", "/worlds/default")).scenarios.includes("autopilot"));
(await seen("the world has actions", () => button($("actions"), "rotate webhook key"))).click();
assert.match(button($("actions"), "verify phone").title, /phone/);
await seen("one without parameters is done at once", () => text("message").startsWith("rotate_webhook_key: done"));
button($("actions"), "set balance").click();
await seen("one with parameters asks", () => dialog.open && text("dialog-title") === "set_balance");
for (const [name, value] of [["symbol", "USDC"], ["network", "STELLAR"], ["amount", "7.25"]]) enter(dialog.querySelector(`[name=${name}]`), value);
submit($("dialog-form"), $("dialog-ok"));
await seen("and shows what it answers", () => !$("answer").hidden && text("answer").includes("7.25"));
submit($("fault-form"));
await seen("a fault can be put in force", () => text("message") === "The fault is in force." && $("faults").children.length === 1);
$("faults").querySelector("button").click();
await seen("and ended", () => text("message") === "The fault is gone." && $("faults").children.length === 0);
enter($("fault"), "{");
submit($("fault-form"));
await seen("what is no JSON is said so", () => $("message").className === "bad" && /JSON/.test(text("message")));

// Another world, and the end of this one's doings.
await call("POST", "/worlds", { id: "second", seed: 2 });
$("refresh").click();
await seen("a new world can be chosen", () => [...$("world").options].some((option) => option.textContent === "second"));
enter($("world"), "second");
$("world").dispatchEvent(new Event("change"));
await seen("its keys are shown", () => $("keys").shown?.includes("second") || !text("keys").includes("pk_test_simulator"));
await seen("and nothing of the other", () => !button($("resources"), id) && text("story") === "Choose a resource.");
enter($("world"), "default");
$("world").dispatchEvent(new Event("change"));
await seen("back in the first", () => button($("resources"), id));
$("reset").click();
await seen("a reset empties it", () => !button($("resources"), id) && text("message").startsWith("The world is as at"));

assert.deepEqual(defects, []);
process.exit(0);
