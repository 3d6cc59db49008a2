// Delivery attempts: exact bytes, signature check, next attempts, and sending again, optionally with a fault.
import { Act, Copy, Empty, Facts, Filters, Id, Json, More, NoMatch, Shown, Split, Status, Table, Time, ask, closeDialog, toast } from "../ui.js";
import { changedAll, useRead } from "../live.js";
import { count, grouped, took, words } from "../format.js";
import { html, useEffect, useState, useStore } from "../lib.js";
import { post, withQuery, world } from "../api.js";
import { About } from "../things.js";
import { header, shellLine, verdict } from "../signature.js";
import { SchemaForm } from "../forms.js";
import { filter } from "../navigation.js";
import { href } from "../routes.js";
import { useContract, withMembers } from "../contract.js";

export function View({ rest: [id], query }) {
  const [limit, setLimit] = useState(100);
  const { endpoint_id, status, event_type, event_id } = query, contract = useContract();
  const reading = useRead(withQuery("/deliveries", { endpoint_id, status, event_type, event_id, limit }), ["delivery"]);
  const endpoints = useRead("/resources?type=webhook&limit=200", ["state"]).value?.data || [];
  const inForce = useRead("/faults", ["state", "delivery"]).value?.data || [];
  const list = html`
    <h2>Deliveries</h2>
    <${Filters} values=${query} change=${filter} fields=${[
      { name: "endpoint_id", label: "Endpoint", choices: endpoints.map((one) => one.id) },
      { name: "status", label: "Status", choices: ["succeeded", "failed"] },
      { name: "event_type", label: "Event", choices: Object.keys(contract?.events || {}) },
    ]} />
    ${event_id ? html`<p>Showing only the event <code>${event_id}</code>. <a href=${href("deliveries", [], { ...query, event_id: "" })}>Show all</a></p>` : ""}
    <${Shown} reading=${reading}>${({ data }) => html`
      <${Table} label="Deliveries" rows=${newestEventFirst(data)} id=${(row) => row.id} selected=${id} open=${(row) => href("deliveries", row.id, query)} columns=${COLUMNS(query, inForce)}
        group=${EVENT} empty=${endpoint_id || status || event_type || event_id
          ? html`<${NoMatch} noun="deliveries" panel="deliveries" />`
          : html`<${Empty} title="No deliveries yet."><p>Webhook endpoints receive the events that they subscribe to. <a href=${href("inbox")}>Create a built-in inbox</a> to see some.</p><//>`} />
      <${More} shown=${data.length} limit=${limit} more=${() => setLimit(limit * 3)} noun="attempts" />`}<//>`;
  return html`<${Split} list=${list} back=${href("deliveries", [], query)} detail=${id && html`<${Detail} key=${id} id=${id} />`} />`;
}

/** Attempts grouped by event. The event with the newest attempt comes first; the attempts of an event are in order. */
const newestEventFirst = (data) => grouped(data.toReversed(), (row) => row.event_id).flatMap(([, rows]) => rows.toReversed());

/** The heading above the attempts of an event. */
const EVENT = {
  by: (row) => row.event_id,
  head: ([row, ...more]) => html`<a href=${href("events", row.event_id)}>${row.event_type}</a> <${About} event=${row.request_body} /> <span class="muted number">${count(more.length + 1, "attempt")}</span>`,
};

const COLUMNS = (query, inForce) => [
  { title: "Status", cell: (row) => html`<${Status} value=${row.status} />` },
  { title: "Attempt", className: "grow", cell: (row) => html`<a href=${href("deliveries", row.id, query)}>Attempt ${row.attempt}</a>${row.cause === "first" ? "" : html` <span class="mark" title=${CAUSES[row.cause]}>${row.cause}</span>`}${row.fault_id || row.faults.length ? html` <a class="mark" href=${href("faults", row.fault_id || [])} title="Show the fault that affected this attempt">${faulty(row, inForce)}</a>` : ""}<div class="muted to extra">to ${row.url.replace(location.origin, "")}</div>` },
  { title: "Response", cell: (row) => row.response_status ?? "none" },
  { title: "At", cell: (row) => html`<${Time} at=${row.attempted_at} />` },
];

const CAUSES = {
  first: "The first attempt for this event and endpoint.",
  retry: "A retry after a failed attempt.",
  copy: "A duplicate created by a fault.",
  resend: "Resent on request.",
};

/** The fault of an attempt: its effect, its settings (copies, delay, order), or its id. */
function faulty(row, inForce) {
  const asked = inForce.find((fault) => fault.id === row.fault_id)?.deliver || {};
  const named = row.faults.length ? row.faults : Object.keys(asked).filter((name) => asked[name]);
  return `fault: ${named.map(words).join(", ") || row.fault_id}`;
}

function Detail({ id }) {
  const reading = useRead(`/deliveries/${encodeURIComponent(id)}`, ["delivery", "clock"]);
  return html`<${Shown} reading=${reading}>${(row) => html`
    <h3>${row.event_type} <${Status} value=${row.status} /></h3>
    <${Facts} rows=${[
      ["Why it failed", row.error],
      ["Event", html`<${Id} id=${row.event_id} to=${href("events", row.event_id)} />`],
      ["About", row.request_body.includes('"object":{"id"') && html`<${About} event=${row.request_body} />`],
      ["Endpoint", html`<${Id} id=${row.endpoint_id} /> <${Status} value=${row.endpoint_status} />`],
      ["Sent to", html`<code>${row.url}</code>`],
      ["At", html`<${Time} at=${row.attempted_at} far />`],
      ["Response", row.response_status === null ? "none" : `${row.response_status} after ${took(row.duration_ms)}`],
      ["Attempt", `${row.attempt}: ${CAUSES[row.cause]}`],
      ["Fault", row.fault_id && html`<${Id} id=${row.fault_id} to=${href("faults")} />`],
      ["Effect of the fault", row.faults.map(words).join(", ")],
    ]} />
    <${Verdict} row=${row} />
    <div class="buttons">
      <${Act} does=${() => again(row, {})} title=${`To ${row.url}`}>Send again<//>
      <button type="button" onClick=${() => askForFault(row)}>Send with a fault</button>
    </div>
    <h4>Attempts for this event and endpoint</h4>
    <${Schedule} row=${row} />
    <h4>Request body</h4><${Json} value=${row.request_body} name="Body" links=${false} />
    <h4>Request headers</h4><${Json} value=${row.request_headers} name="Headers" links=${false} />
    ${row.response_body === null ? "" : html`<details><summary>Response</summary><${Json} value=${row.response_body || "(nothing)"} name="Response" links=${false} /><${Json} value=${row.response_headers} name="Response headers" links=${false} /></details>`}`}<//>`;
}

/** Whether a receiver would accept the attempt, and a shell command that checks the same. */
function Verdict({ row }) {
  const present = useRead(`/worlds/${encodeURIComponent(useStore(world))}`).value, [found, setFound] = useState(null);
  const owner = useRead(`/events/${encodeURIComponent(row.event_id)}`).value;
  useEffect(() => {
    if (!present || !owner) return;
    const key = present.credentials[owner.livemode ? "production" : "sandbox"].webhook_key;
    verdict({ headers: row.request_headers, body: row.request_body, key, sentMs: sentMs(row, present.settings) }).then(setFound);
  }, [row.id, present, owner]);
  if (row.faults.includes("drop")) return html`<p class="verdict" data-tone="ended">Not sent: a fault dropped it.</p>`;
  if (!found) return html`<p class="verdict" data-tone="plain">Checking the signature.</p>`;
  const tone = found.verifies === null ? "plain" : found.verifies ? "good" : "bad";
  return html`<p class="verdict" data-tone=${tone}><${Status} value=${found.verifies === null ? "not checked" : found.verifies ? "verifies" : "does not verify"} tone=${tone} /> ${found.why}.</p>
    <details><summary>Verify it on the command line</summary>
      <p class="muted">This must print the X-Signature of the request. <code>${header(row.request_headers, "x-signature")}</code>. <code>WEBHOOK_KEY</code> is the webhook key of the world.</p>
      <${Json} value=${shellLine({ headers: row.request_headers, body: row.request_body })} name="Command" links=${false} /></details>`;
}

/** The sending time on the clock of its timestamp. With the wall clock, only the age that a fault added is known. */
function sentMs(row, settings) {
  if (settings.webhook_timestamp === "simulated") return Date.parse(row.attempted_at);
  return row.faults.includes("stale_timestamp") ? Number(header(row.request_headers, "x-timestamp")) + 600_000 : null;
}

function Schedule({ row }) {
  const next = row.schedule.find((one) => one.status === "planned");
  const planned = row.schedule.filter((one) => one.status === "planned").length;
  return html`
    <ol class="schedule" aria-label="Attempts">${row.schedule.map((one, index) => html`<li key=${index} data-status=${one.status} aria-current=${one.id === row.id ? "true" : null}>
      ${one.id ? html`<a href=${href("deliveries", one.id)}><${Status} value=${one.status} /> ${one.attempt}</a>` : html`<span class="muted">${one === next ? "next" : "then"}</span>`}
      <${Time} at=${one.at} far=${one === next} /></li>`)}</ol>
    <p class="muted">${planned ? `If attempts keep failing, ${count(planned, "more retry").replace("retrys", "retries")} will follow, and then the endpoint is disabled.` : row.schedule.some((one) => one.status === "succeeded") ? "It has been acknowledged and will not be retried." : row.endpoint_status === "enabled" ? "This attempt will not be retried, because it is not part of the retry schedule." : `This attempt will not be retried, because the endpoint is ${row.endpoint_status}.`}</p>`;
}

/** Send an event again, optionally with a fault, to the endpoint of `row` or to all subscribed endpoints. */
export async function again(row, deliver) {
  const body = { ...(row.endpoint_id ? { endpoint_id: row.endpoint_id } : {}), ...(Object.keys(deliver).length ? { deliver } : {}) };
  const { deliveries } = await post(`/events/${encodeURIComponent(row.event_id)}/resend?wait=true`, body);
  if (deliver.delay) return "The delivery is sent after its delay. Advance the clock to see it.";
  return deliveries ? "Sent again." : "No enabled endpoint is subscribed to this event, so nothing was sent.";
}

const PRESETS = [
  ["Twice", { copies: 2 }, "Your application must process this event only once."],
  ["10 minutes late", { delay: "10m" }, "Later events may have arrived before this one."],
  ["Forged signature", { corrupt_signature: true }, "Your application must reject it."],
  ["Stale timestamp", { stale_timestamp: true }, "A replay: 10 minutes old with a valid signature. Your application must reject it."],
  ["Altered body", { alter_body: true }, "The body differs from the signed one. Your application must reject it."],
  ["Response lost", { acknowledgement_lost: true }, "Your 2xx response is lost, so the event will be retried."],
  ["Unknown type", { unknown_type: true }, "An unknown event type. Your application must acknowledge and ignore it."],
  ["Extra field", { extra_field: true }, "An unknown field. Your application must ignore it."],
];

/** Choose a fault in a dialog and send the event again: {event_id, event_type, endpoint_id?, url?}. */
export function askForFault(row) {
  const send = async (deliver) => {
    toast(await again(row, deliver));
    closeDialog();
    changedAll();
  };
  ask({
    title: "Send with a fault",
    about: `${row.event_type} goes once more to ${row.url || "every endpoint that gets it"}, now, and with this fault only once.`,
    body: () => html`<div class="presets">${PRESETS.map(([name, deliver, about]) => html`<div key=${name}><${Once} send=${() => send(deliver)}>${name}<//> <span class="muted">${about}</span></div>`)}</div>
      <details><summary>Custom fault</summary><${DeliverForm} send=${send} /></details>`,
  });
}

function Once({ send, children }) {
  const work = async () => {
    try {
      await send();
    } catch (error) {
      toast(error.message, true);
    }
  };
  return html`<button type="button" onClick=${work}>${children}</button>`;
}

function DeliverForm({ send }) {
  const contract = useContract();
  if (!contract) return null;
  const schema = withMembers(contract.schema("Deliver"), { reorder: null, hold: null, before_answer: null });
  const sendWhole = (values) => send(values).catch((error) => { throw Object.assign(error, { param: error.param?.replace(/^deliver\./, "") }); });
  return html`<${SchemaForm} schema=${schema} resolve=${contract.resolve} send=${sendWhole} cancel=${closeDialog} ok="Send it" />`;
}
