// Snapshots of a world, and its recording as a scenario.
import { Act, Copy, Empty, Json, Shown, Table, Time, ask, closeDialog, toast } from "../ui.js";
import { chooseWorld, del, get, post, withQuery, world } from "../api.js";
import { changedAll, useRead } from "../live.js";
import { html, useEffect, useState, useStore } from "../lib.js";
import { SchemaForm } from "../forms.js";
import { download } from "../things.js";
import { filter } from "../navigation.js";
import { fullTime } from "../format.js";

const NAME = { properties: { name: { type: "string", description: "Optional." } } };
const FORK = { properties: { id: { type: "string", description: "Optional id of the new world." } } };

export function Snapshots() {
  const reading = useRead("/snapshots", ["own"]), here = useStore(world);
  const take = async (body) => {
    const made = await post("/snapshots", { ...body, wait: true });
    toast(`Snapshot ${made.name || made.id} of ${here} saved.`);
    changedAll();
  };
  const fork = (row) => ask({
    title: `New world from ${row.name || row.id}`,
    about: "The new world starts in this state, with its own keys. The current world does not change.",
    body: () => html`<${SchemaForm} schema=${FORK} ok="Create" cancel=${closeDialog} send=${async (body) => {
      const made = await post("/worlds", { ...body, from_snapshot: row.id });
      closeDialog();
      toast(`Now showing the world ${made.id}.`);
      chooseWorld(made.id);
    }} />`,
  });
  return html`<section class="card"><h2>Snapshots of ${here}</h2>
    <p class="muted">A snapshot saves the whole state: resources, balances, timers, deliveries, the clock.</p>
    <${SchemaForm} schema=${NAME} send=${take} ok="Take a snapshot" />
    <${Shown} reading=${reading}>${({ data }) => html`<${Table} label="Snapshots" rows=${data.toReversed()} id=${(row) => row.id} empty=${html`<${Empty} title="No snapshots."><p>Take a snapshot before you try something. You can restore it as often as you like.</p><//>`} columns=${[
      { title: "Snapshot", className: "grow", cell: (row) => html`${row.name || html`<code>${row.id}</code>`}` },
      { title: "State of", cell: (row) => html`<${Time} at=${row.at} far />` },
      { title: "Action", cell: (row) => html`<div class="buttons">
        <${Act} asks=${`Restore ${here} to ${row.name || row.id}? All later changes are lost.`} danger=${false} does=${async () => { await post(`/snapshots/${encodeURIComponent(row.id)}/restore`); return `${here} was restored.`; }}>Restore<//>
        <button type="button" onClick=${() => fork(row)}>Fork</button>
        <${Act} does=${async () => { download(`${row.name || row.id}.json`, await get(`/snapshots/${encodeURIComponent(row.id)}`, { raw: true }), "application/json"); }}>Download<//>
        <${Act} asks=${`Delete the snapshot ${row.name || row.id}?`} does=${async () => { await del(`/snapshots/${encodeURIComponent(row.id)}`); return "The snapshot was deleted."; }}>Delete<//></div>` },
    ]} />`}<//></section>`;
}

/** Manual steps as a scenario. */
export function Recording({ query }) {
  const calls = useRead("/controls?limit=200", ["own", "clock"]).value?.data || [], [text, setText] = useState(null), [error, setError] = useState(null);
  const name = query.name || "recording", here = useStore(world), [typed, setTyped] = useState(name);
  useEffect(() => {
    let isStale = false;
    get(withQuery("/recording", { name, since: query.since }), { raw: true }).then((found) => { if (!isStale) { setText(found); setError(null); } }, (refusal) => { if (!isStale) setError(refusal); });
    return () => { isStale = true; };
  }, [name, query.since, calls.at(-1)?.id]);
  return html`<section class="card"><h2>Recording</h2>
    <p class="muted">All calls and manual steps in ${here}, as a scenario that repeats them and expects the same results.</p>
    <form class="filters" onSubmit=${(event) => event.preventDefault()}>
      <label>Name <input value=${typed} onInput=${(event) => setTyped(event.target.value)} onChange=${(event) => filter("name", event.target.value)} /></label>
      <label>From <select value=${query.since || ""} onChange=${(event) => filter("since", event.target.value)}><option value="">the beginning</option>${calls.toReversed().map((call) => html`<option key=${call.id} value=${call.id}>${fullTime(call.at)}: ${call.method} ${call.path}</option>`)}</select></label></form>
    ${error ? html`<p class="failure" role="alert">${error.message}</p>` : ""}
    ${text === null ? "" : html`<div class="buttons"><button type="button" class="main" onClick=${() => download(`${name}.yaml`, text, "application/yaml")}>Download ${name}.yaml</button><${Copy} text=${text} what="the scenario">Copy<//></div>
      <p class="muted">Run it: <code>rampsim scenario run ${name}.yaml</code></p><${Json} value=${text} name="Scenario" links=${false} />`}</section>`;
}
