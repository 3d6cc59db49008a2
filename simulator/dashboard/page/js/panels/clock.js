// Past events and planned timers on one axis of simulated time. A click on a timer advances to it.
import { Act, Empty, Id, More, Shown, Table, Time } from "../ui.js";
import { clock, useRead } from "../live.js";
import { count, distance, fullTime, words } from "../format.js";
import { html, useState, useStore } from "../lib.js";
import { marks, ticks } from "../axis.js";
import { put, post, withQuery } from "../api.js";
import { useNow } from "../clockbar.js";
import { SchemaForm } from "../forms.js";
import { href } from "../routes.js";
import { useContract, withMembers } from "../contract.js";

/** Advance the clock to a time, and return a summary. */
async function jump(to) {
  const done = await post("/clock/advance?wait=true", { to });
  return `Now ${fullTime(done.now)}: ${count(done.fired, "timer")} fired, ${count(done.events.length, "event")}, ${done.deliveries} delivery ${done.deliveries === 1 ? "attempt" : "attempts"}.`;
}

export function View() {
  const [limit, setLimit] = useState(100), state = useStore(clock), now = useNow(), contract = useContract();
  const timers = useRead(withQuery("/timers", { limit }), ["state", "event", "delivery", "clock", "own"]);
  const events = useRead("/events?limit=100", ["event"]);
  return html`<section class="card"><h2>Clock and timers</h2>
    ${state ? html`<p><strong>${fullTime(now)}</strong> <span class="muted">${state.mode}${state.mode === "scaled" ? `, ${state.rate} times as fast` : ""}</span></p>` : ""}
    ${state && timers.value ? html`<${Timeline} now=${now} timers=${timers.value.data} events=${events.value?.data || []} />` : ""}
    <h3>Planned timers</h3>
    <${Shown} reading=${timers}>${({ data }) => html`<${Table} label="Timers" rows=${data.map((row, index) => ({ ...row, index }))} id=${(row) => row.index} columns=${COLUMNS}
      empty=${html`<${Empty} title="No timers."><p>Expiring objects, scenario steps and webhook retries create timers. Make a call that creates an object, and its timers appear here.</p><//>`} />
      <${More} shown=${data.length} limit=${limit} more=${() => setLimit(limit * 3)} noun="timers" />`}<//>
    <h3>Clock mode</h3>
    ${contract && state ? html`<${SchemaForm} key=${`${state.mode} ${state.rate}`} schema=${withMembers(contract.schema("ClockBody"), { mode: { enum: ["real", "manual", "scaled"] } })} resolve=${contract.resolve} first=${{ mode: state.mode }} send=${(body) => put("/clock?wait=true", body)} ok="Set" />` : ""}</section>`;
}

const COLUMNS = [
  { title: "When", cell: (row) => (row.due_at ? html`<${Time} at=${row.due_at} far />` : html`waits for ${row.waiting_for.join(", ")}`) },
  { title: "Timer", className: "grow", cell: (row) => row.text },
  { title: "For", cell: (row) => row.target && html`<${Id} id=${row.target} copy=${false} />` },
  { title: "Action", cell: (row) => row.due_at && html`<${Act} does=${() => jump(row.due_at)} label=${`Advance to ${fullTime(row.due_at)}: ${row.text}`}>Advance<//>` },
];

function Timeline({ now, timers, events }) {
  const nowMs = Date.parse(now), due = timers.filter((row) => row.due_at);
  const furthest = Math.max(60_000, ...due.map((row) => Date.parse(row.due_at) - nowMs), ...events.map((row) => nowMs - Date.parse(row.created_at)));
  const nearest = matchMedia("(max-width: 40rem)").matches ? 7.5 : 2.5; // the width of a mark, in percent
  const when = (row) => Date.parse(row.due_at || row.created_at);
  return html`<div class="timeline" role="group" aria-label="Recent events and upcoming timers">
    ${ticks(furthest).map((one) => html`<span key=${one.text} class=${one.at === 50 ? "tick now" : "tick"} style=${{ left: `${one.at}%` }}>${one.text}</span>`)}
    ${marks(events, when, nowMs, furthest, nearest).map((one) => html`<a key=${one.rows[0].id} class="past" style=${{ left: `${one.at}%` }} href=${href("events", one.rows.at(-1).id)}
      title=${said(one.rows, (row) => row.type, now)} aria-label=${said(one.rows, (row) => row.type, now)}>${one.rows.length > 1 ? one.rows.length : ""}</a>`)}
    ${marks(due, when, nowMs, furthest, nearest).map((one, index) => html`<${Act} key=${index} className="coming" place=${{ left: `${one.at}%` }} does=${() => jump(one.rows[0].due_at)} label=${`${said(one.rows, (row) => row.text, now)}. Go there`} title=${said(one.rows, (row) => row.text, now)}>${one.rows.length > 1 ? one.rows.length : ""}<//>`)}
  </div>`;
}

/** The label of a mark: "quote expired, 3 min ago". */
function said(rows, what, now) {
  const texts = [...new Set(rows.map((row) => words(what(row))))];
  const more = texts.length > 3 ? ` and ${texts.length - 3} more` : "";
  const number = rows.length > 1 ? `${rows.length}: ` : "";
  return `${number}${texts.slice(0, 3).join("; ")}${more}, ${distance(rows[0].due_at || rows[0].created_at, now)}`;
}
