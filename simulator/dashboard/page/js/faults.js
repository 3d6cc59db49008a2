// Descriptions of faults, and initial values of the fault form. This module does not use the DOM, so Node can test it.
import { words } from "./format.js";

/** The calls or deliveries that a fault applies to: "POST /quotes", "every call", "every delivery of quote.expired to wh_…". */
export function about(fault) {
  if (fault.webhook) return `${fault.webhook.event ? `deliveries of ${fault.webhook.event}` : "every delivery"}${fault.webhook.endpoint_id ? ` to ${fault.webhook.endpoint_id}` : ""}`;
  const { method, path, public_key: key } = fault.match || {};
  const what = method || path ? `${method || "calls to"} ${path || "everything"}` : "every call";
  return `${what}${key ? ` of ${key}` : ""}`;
}

const EFFECTS = {
  respond: (value) => `returns ${value.status} ${value.code}`,
  delay: (value, fault) => (fault.webhook ? `is delayed by ${value} of simulated time` : `is delayed by ${value}`),
  answer_delay: (value) => `gets its response ${value} late`,
  act: (value) => `performs ${words(value.action)} first`,
  drop: (value, fault) => (fault.webhook ? "is lost" : fault.after_commit ? "loses its response" : "is disconnected"),
  malformed: (value) => (value === "truncate" ? "gets half of the body" : "gets a body that is not JSON"),
  key_forgotten: () => "has its Idempotency-Key deleted",
  copies: (value) => `is sent ${value} times`,
  reorder: () => "is overtaken by the next one",
  hold: (value) => (value === "terminal" ? "waits until the final event of its object" : `is overtaken by ${value} others`),
  before_answer: () => "arrives before the response to the call that caused it",
  two_at_once: () => "is sent twice concurrently",
  acknowledgement_lost: () => "loses its acknowledgement",
  corrupt_signature: () => "has a wrong signature",
  stale_timestamp: () => "has a timestamp 10 minutes old",
  alter_body: () => "has a body that differs from the signed one",
  slow: (value) => `is sent ${value} late in real time`,
};

/** The effect of a fault: "returns 503 service_unavailable, after the work is committed". */
export function effect(fault) {
  const given = fault.webhook ? fault.deliver : fault, found = [];
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === false || value === undefined) continue;
    if (EFFECTS[name]) found.push(EFFECTS[name](value, fault));
    else if (/^(unknown|extra|missing)_/.test(name)) found.push(`has ${name.startsWith("u") ? "an" : name.startsWith("e") ? "an" : "a"} ${words(name)}${value === true ? "" : ` (${value})`}`);
  }
  const after = fault.after_commit ? ", after the work is committed" : "";
  return `${found.join(", ") || "does nothing"}${after}`;
}

/** How often a fault applies: "the next 2 times", "with probability 0.5", "every time". */
export function often(fault) {
  const parts = [fault.skip ? `after ${fault.skip} unaffected` : "", fault.times ? `${fault.times === 1 ? "once" : `${fault.times} times`}` : "every time", fault.probability === undefined || fault.probability === null ? "" : `with probability ${fault.probability}`, fault.first_per_key ? `the first ${fault.first_per_key} under each key` : ""];
  return parts.filter(Boolean).join(", ");
}

/** Convert an object to form values: {respond: {status: 503}} becomes {"respond.status": "503"}. */
export function texts(value, prefix = "") {
  const found = {};
  for (const [name, member] of Object.entries(value)) {
    if (member !== null && typeof member === "object" && !Array.isArray(member)) Object.assign(found, texts(member, `${prefix}${name}.`));
    else found[prefix + name] = String(member);
  }
  return found;
}

const CONFIRM = { method: "POST", path: "/quotes/*/confirm" };

/** The initial values for a preset (`GET /faults/presets`): it applies once, to the call that costs money or to any delivery. */
export function begins(preset) {
  return { ...(preset.fault.deliver ? { webhook: {} } : { match: CONFIRM }), ...preset.fault, times: 1 };
}

/** The initial fault if no preset was chosen. */
export const EXAMPLE = { match: CONFIRM, respond: { status: 503, code: "service_unavailable" }, times: 1 };
