// Worlds, and the settings of the current world.
import { Act, Copy, Empty, Facts, Shown, Split, Status, Table, Time, toast } from "../ui.js";
import { changedAll, useRead } from "../live.js";
import { chooseWorld, del, patch, post, world } from "../api.js";
import { fullTime, words } from "../format.js";
import { html, useState, useStore } from "../lib.js";
import { useContract, withMembers } from "../contract.js";
import { SchemaForm } from "../forms.js";
import { href } from "../routes.js";
import { go } from "../navigation.js";
import { texts } from "../faults.js";
import { evidenceOf } from "../evidence.js";

export function View({ rest: [id] }) {
  const reading = useRead("/worlds", ["own", "clock"]), here = useStore(world);
  const list = html`<h2>Worlds</h2>
    <p class="muted">Each world has its own clock, keys, money, resources and scenarios. Each test creates its own.</p>
    <div class="buttons"><a class="button main" href=${href("worlds", "+new")}>New world</a></div>
    <${Shown} reading=${reading}>${(value) => html`<${Table} label="Worlds" rows=${all(value)} id=${(row) => row.id} selected=${id} open=${(row) => href("worlds", row.id)} columns=${COLUMNS(here)} />`}<//>`;
  const chosen = reading.value && all(reading.value).find((row) => row.id === id);
  const detail = id === "+new" ? html`<${NewWorld} />` : id && (chosen ? html`<${World} key=${id} one=${chosen} here=${here} />` : html`<${Empty} title="This world does not exist."><p><a href=${href("worlds", "+new")}>Create a world</a></p><//>`);
  return html`<${Split} list=${list} back=${href("worlds")} detail=${detail} />`;
}

/** Worlds, then unreadable worlds, which have only an id and `why`. */
const all = ({ data, unreadable }) => [...data, ...unreadable];

const COLUMNS = (here) => [
  { title: "World", className: "grow", cell: (row) => html`<a href=${href("worlds", row.id)}>${row.id}</a>${row.id === here ? html` <span class="mark">shown</span>` : ""}` },
  { title: "Clock", cell: (row) => html`<${Status} value=${row.why ? "unreadable" : row.clock.mode} tone=${row.why ? "bad" : "plain"} />` },
  { title: "Its time", cell: (row) => (row.why ? "" : html`<${Time} at=${row.clock.now} />`) },
];

function World({ one, here }) {
  const end = async () => {
    await del(`/worlds/${encodeURIComponent(one.id)}`);
    if (one.id === here) chooseWorld("default");
    else go("worlds");
    return `The world ${one.id} was deleted.`;
  };
  const reset = async () => {
    await post("/reset");
    return `${one.id} was reset.`;
  };
  if (one.why)
    return html`<h3>${one.id}</h3><p>This world is unreadable: ${one.why}.</p>
      <div class="buttons"><${Act} asks=${`Delete the world ${one.id} with all its data?`} does=${end}>Delete it<//></div>`;
  return html`<h3>${one.id}</h3>
    <${Facts} rows=${[["Its time", `${fullTime(one.clock.now)}, ${one.clock.mode}`], ["Seed", one.seed], ["Created", fullTime(one.created_at)], ["Scenarios", one.scenarios.join(", ") || "none"], ["Other users", one.platform_users.map((user) => `${user.email} (${user.phone_number})`).join(", ")]]} />
    <div class="buttons">${one.id === here ? html`<${Act} asks=${`Reset the world ${one.id}? This deletes its resources, events and requests.`} does=${reset}>Reset it<//><a class="button" href=${href("settings")}>Settings</a>` : html`<button type="button" class="main" onClick=${() => chooseWorld(one.id)}>Show it</button>`}
      ${one.id === "default" ? "" : html`<${Act} asks=${`Delete the world ${one.id} with all its data?`} does=${end}>Delete it<//>`}</div>
    <h4>Keys</h4><p class="muted">They work only in this simulation.</p><${Keys} credentials=${one.credentials} />`;
}

/** The keys of a world with copy buttons. Secrets of created worlds are shortened. */
export function Keys({ credentials }) {
  const shown = (name, value) => (/secret|webhook/.test(name) && !value.endsWith("_simulator") ? `${value.slice(0, 9)}…` : value);
  return Object.entries(credentials).map(([environment, keys]) => html`<h5>${environment}</h5>
    <${Facts} rows=${Object.entries(keys).map(([name, value]) => [words(name), html`<code>${shown(name, value)}</code> <${Copy} text=${value} what=${`the ${words(name)} of ${environment}`} />`])} />`);
}

function NewWorld() {
  const contract = useContract(), scenarios = useRead("/scenarios").value?.data || [];
  if (!contract) return null;
  const names = scenarios.filter((row) => !/upload/.test(row.source)).map((row) => row.name);
  const schema = withMembers(contract.schema("WorldBody"), {
    from_snapshot: null,
    observed: null,
    settings: null,
    replace: {},
    scenarios: { type: "array", items: { type: "string" }, description: `Names; later ones have priority. Default: the scenarios of the server. Available: ${names.join(", ")}.` },
  });
  const send = async (body) => {
    const made = await post("/worlds", body);
    toast(`Now showing the world ${made.id}.`);
    chooseWorld(made.id);
  };
  return html`<h3>New world</h3><${SchemaForm} schema=${schema} resolve=${contract.resolve} send=${send} ok="Create and show" cancel=${() => go("worlds")} />`;
}

/** The settings of the world, and its switched assumptions. */
export function Settings() {
  const reading = useRead("/settings", ["own"]), contract = useContract(), here = useStore(world);
  return html`<section class="card"><h2>Settings of ${here}</h2>
    <${Shown} reading=${reading}>${(present) => (contract ? html`<${SettingsForm} key=${JSON.stringify(present)} present=${present} contract=${contract} />` : "")}<//>
    <h2>Assumptions</h2><p class="muted">Where the specification is silent, the simulator assumes the most likely behaviour. Change an assumption to try an alternative.</p>
    <${Assumptions} /></section>`;
}

function SettingsForm({ present, contract }) {
  const schema = withMembers(contract.schema("Settings"), { assumptions: null });
  const { assumptions, ...settable } = present;
  const first = texts(Object.fromEntries(Object.entries(settable).filter(([, value]) => value !== null)));
  const send = async (given) => {
    const changes = Object.keys(schema.properties).filter((name) => (given[name] ?? null) !== (settable[name] ?? null));
    if (!changes.length) return toast("No changes.");
    await patch("/settings", Object.fromEntries(changes.map((name) => [name, given[name] ?? null])));
    toast(`Changed: ${changes.map(words).join(", ")}.`);
    return changedAll();
  };
  return html`<${SchemaForm} schema=${schema} resolve=${contract.resolve} first=${first} send=${send} ok="Change" />`;
}

const EVIDENCE = [
  { title: "Assumption", cell: (one) => one.id },
  { title: "Behavior", cell: (one) => one.how },
  { title: "Observed on", cell: (one) => one.when },
];

/** The verdicts of the observed files that the world is based on: decided, how, when, and what remains. */
function Evidence({ rows }) {
  const { decided, neither, overruled, open } = evidenceOf(rows);
  if (open.length === rows.length) return html`<p class="muted">No assumption has been checked against the real service. Use <code>rampsim probe</code> to check them.</p>`;
  return html`<details open><summary>Evidence: ${decided.length} of ${rows.length} observed</summary>
    <${Table} label="Observed assumptions" rows=${decided} id=${(one) => one.id} columns=${EVIDENCE} />
    ${neither.map((one) => html`<p key=${one.id}>${one.id}: the service does something else. ${one.seen}</p>`)}
    ${overruled.length ? html`<p>Overridden by the settings of this world: ${overruled.join(", ")}.</p>` : ""}
    <p>Not decided: ${open.join(", ") || "none"}.</p></details>`;
}

function Assumptions() {
  const reading = useRead("/assumptions", ["own"]), [text, setText] = useState("");
  return html`<${Shown} reading=${reading}>${({ data }) => {
    const chosen = Object.fromEntries(data.filter((row) => row.in_force).map((row) => [row.id, row.in_force]));
    const set = async (id, name) => {
      const { [id]: _, ...rest } = chosen;
      await patch("/settings", { assumptions: name ? { ...rest, [id]: name } : rest });
      return name ? `${id} is now: ${words(name)}.` : `${id} was reset to its default.`;
    };
    const fits = data.filter((row) => `${row.id} ${row.assumed} ${row.question}`.toLowerCase().includes(text.toLowerCase()));
    return html`<${Evidence} rows=${data} />
      <form class="filters" role="search" aria-label="Filter assumptions" onSubmit=${(event) => event.preventDefault()}><label>Words <input type="search" value=${text} onInput=${(event) => setText(event.target.value)} /></label></form>
      <p>${Object.keys(chosen).length ? `Changed: ${Object.entries(chosen).map(([id, name]) => `${id} ${words(name)}`).join(", ")}.` : "No assumption has been changed."}</p>
      <ul class="assumptions">${fits.map((row) => html`<li key=${row.id}><h3>${row.id} ${row.in_force ? html`<${Status} value="otherwise" tone="waiting" />` : ""}${row.standing === "observed" ? html` <span class="muted">observed ${row.observed_at}</span>` : ""}</h3><p>${row.assumed}</p>
        <ul>${row.alternatives.map((one) => html`<li key=${one.name}>${row.in_force === one.name ? html`<${Act} does=${() => set(row.id, "")} label=${`Reset ${row.id}`}>Reset<//>` : html`<${Act} does=${() => set(row.id, one.name)} label=${`Try ${row.id}: ${words(one.name)}`}>Try<//>`} <b>${words(one.name)}</b> <span>${one.changes}</span></li>`)}</ul>
        <details><summary>How to find out</summary><p>${row.question}</p><p class="muted">${row.call}</p></details></li>`)}</ul>`;
  }}<//>`;
}
