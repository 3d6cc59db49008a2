// Scenarios: active ones and their order, the log of each, and uploading your own.
import { Act, Empty, Facts, Failure, Id, Json, NoMatch, Shown, Split, Status, Table, Time, toast } from "../ui.js";
import { api, put, world } from "../api.js";
import { changedAll, useRead } from "../live.js";
import { count, words } from "../format.js";
import { html, useRef, useState, useStore } from "../lib.js";
import { filter, go } from "../navigation.js";
import { href } from "../routes.js";

export function View({ rest: [name], query }) {
  const reading = useRead("/scenarios", ["scenarios", "own"]), present = useRead(`/worlds/${encodeURIComponent(useStore(world))}`, ["scenarios", "own"]).value;
  const active = present?.scenarios || [], words_ = (query.text || "").toLowerCase();
  const order = (row) => (row.active ? active.indexOf(row.name) : Infinity);
  const list = html`
    <h2>Scenarios</h2>
    <p class="muted">Active, the last one has priority: ${active.length ? active.join(", ") : "none; only service rules apply"}.</p>
    <div class="buttons"><a class="button main" href=${href("scenarios", [], { ...query, editor: "new" })}>New scenario</a></div>
    <form class="filters" role="search" aria-label="Filter" onSubmit=${(event) => event.preventDefault()}><label>Name or description <input type="search" value=${query.text || ""} autocomplete="off" onInput=${(event) => filter("text", event.target.value)} /></label></form>
    <${Shown} reading=${reading}>${({ data, problems = [] }) => html`${problems.map((one) => html`<div class="failure" role="note"><p><code>${one.file}:${one.line}:${one.column}</code> ${one.path ? `${one.path}: ` : ""}${one.message}</p><p class="muted">The previously loaded version stays active.</p></div>`)}<${Table} label="Scenarios" id=${(row) => row.name} selected=${name} open=${(row) => href("scenarios", row.name, { text: query.text })} columns=${COLUMNS(active, query)}
      rows=${data.filter((row) => `${row.name} ${row.description}`.toLowerCase().includes(words_)).toSorted((one, other) => order(one) - order(other))}
      empty=${html`<${NoMatch} noun="scenarios" panel="scenarios" />`} />`}<//>`;
  const detail = query.editor ? html`<${Editor} key=${query.editor} of=${query.editor} />` : name && html`<${Detail} key=${name} name=${name} active=${active} />`;
  return html`<${Split} list=${list} back=${href("scenarios", [], { text: query.text })} detail=${detail} />`;
}

const choose = (names) => put("/scenarios/active", { names });

/** Later names have priority, so an activated scenario comes last. */
const Switch = ({ row, active }) => html`<${Act} label=${`${row.active ? "Deactivate" : "Activate"} ${row.name}`} className="switch" does=${async () => {
  await choose(row.active ? active.filter((one) => one !== row.name) : [...active, row.name]);
  return `${row.name} is ${row.active ? "off" : "active"}.`;
}}>${row.active ? "Deactivate" : "Activate"}<//>`;

const COLUMNS = (active, query) => [
  { title: "Scenario", className: "grow", cell: (row) => html`<a href=${href("scenarios", row.name, { text: query.text })}>${row.name}</a><div class="muted">${row.description}</div>` },
  { title: "State", cell: (row) => html`<${Status} value=${row.stopped ? "stopped" : row.active ? "active" : "off"} tone=${row.stopped ? "bad" : undefined} />` },
  { title: "Action", cell: (row) => html`<${Switch} row=${row} active=${active} />` },
];

function Detail({ name, active }) {
  const reading = useRead(`/scenarios/${encodeURIComponent(name)}`, ["state", "event", "clock", "scenarios", "own"]);
  const at = active.indexOf(name);
  const moved = (by) => {
    const names = active.filter((one) => one !== name);
    names.splice(at + by, 0, name);
    return choose(names).then(() => `New order: ${names.join(", ")}.`);
  };
  return html`<${Shown} reading=${reading}>${(row) => {
    const { source, text, active: isActive, rules_fired, steps_done, skipped, failed, stopped, pending, dropped, truncated, ...document } = row;
    return html`<h3>${name} <${Status} value=${isActive ? "active" : "off"} /></h3><p>${row.description}</p>
      ${stopped.map((one) => html`<div class="failure" role="note"><p>It stopped ${html`<${Time} at=${one.at} />`}: ${one.reason}</p></div>`)}
      <${Facts} rows=${[["From", source], ["Position", isActive && `${at + 1} of ${active.length}; the last one has priority`]]} />
      <div class="buttons"><${Switch} row=${row} active=${active} />
        ${isActive && at > 0 ? html`<${Act} does=${() => moved(-1)}>Move up<//>` : ""}${isActive && at < active.length - 1 ? html`<${Act} does=${() => moved(1)}>Move down<//>` : ""}
        <a class="button" href=${href("scenarios", [], { editor: name })}>Edit a copy</a></div>
      <${Log} title="Planned steps" rows=${pending} when=${(one) => (one.due_at ? html`<${Time} at=${one.due_at} far />` : `waits for ${one.waiting_for.join(", ")}`)} />
      <${Log} title="Failed" rows=${failed} tone="bad" /><${Log} title="Skipped" rows=${skipped} tone="waiting" />
      <${Log} title="Done" rows=${steps_done} /><${Log} title="Rules that fired" rows=${rules_fired} />
      ${[rules_fired, steps_done, skipped, failed, pending].every((one) => !one.length) ? html`<p class="muted">No rule has fired in this world yet${isActive ? "" : ". The scenario is inactive"}.</p>` : ""}
      ${truncated ? html`<p class="muted">${dropped} older entries were deleted to save memory.</p>` : ""}
      <h4>Source</h4><${Json} value=${text || document} name="Scenario" links=${false} />`;
  }}<//>`;
}

/** The log of rules and steps, newest first. */
function Log({ title, rows, when = (one) => html`<${Time} at=${one.at} />`, tone }) {
  if (!rows.length) return null;
  const shown = rows.slice(-50).reverse();
  return html`<details open=${title !== "Rules that fired"}><summary>${title} (${rows.length})</summary><ul class="log">${shown.map((one, index) => html`<li key=${index} data-tone=${tone}>${when(one)}
    <span>${one.action ? words(one.action) : one.part} ${one.object ? html`<${Id} id=${one.object} copy=${false} />` : ""}${one.reason ? html` <span class="muted">${one.reason}</span>` : ""} <code class="muted">${one.place}</code></span></li>`)}</ul>
    ${rows.length > shown.length ? html`<p class="muted">The newest ${shown.length}.</p>` : ""}</details>`;
}

const EXAMPLE = `name: my-scenario
description: Payers take two minutes, and every payout fails.
rules:
  - on: transaction.awaiting_payment
    do:
      - {after: 2m, action: payment_arrives}
  - on: transaction.processing
    where: {type: offramp}
    do:
      - {after: 1m, action: fail, failure_code: payout_failed}
`;

/** An editor for a scenario, which shows errors at their lines. */
function Editor({ of }) {
  const source = useRead(of === "new" ? null : `/scenarios/${encodeURIComponent(of)}`);
  if (of === "new") return html`<${Text} first=${EXAMPLE} />`;
  return html`<${Shown} reading=${source}>${({ source: _, text, active, rules_fired, steps_done, skipped, failed, stopped, pending, dropped, truncated, ...document }) => html`<${Text} first=${copied(text) || JSON.stringify({ ...document, name: `${document.name}-copy` }, null, 2)} />`}<//>`;
}

/** Return a scenario file under another name, with comments and order unchanged. */
const copied = (text) => text && /^name:/m.test(text) ? text.replace(/^(name:[ \t]*)(["']?)([a-z0-9-]+)\2/m, "$1$3-copy") : null;

function Text({ first }) {
  const [text, setText] = useState(first), [error, setError] = useState(null), [sent, setSent] = useState(""), area = useRef(null);
  const upload = async (isActive) => {
    try {
      const made = await api("POST", "/scenarios", { text, type: "application/yaml" });
      setError(null);
      if (isActive) {
        const present = (await api("GET", `/worlds/${encodeURIComponent(world.get())}`)).scenarios;
        await choose([...present.filter((one) => one !== made.name), made.name]);
      }
      toast(`${made.name} is saved in this world${isActive ? " and active" : ""}.${made.warnings ? ` ${count(made.warnings.length, "warning")}: ${made.warnings.map((one) => `line ${one.line}: ${one.message}`).join(" ")}` : ""}`, Boolean(made.warnings));
      changedAll();
      go("scenarios", made.name);
    } catch (refusal) {
      setSent(text);
      setError(refusal);
    }
  };
  const take = async (event) => {
    const [file] = event.target.files;
    if (file) setText(await file.text());
  };
  const goTo = (line, column) => {
    const lines = area.current.value.split("\n"), start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0) + column - 1;
    area.current.focus();
    area.current.setSelectionRange(start, start + Math.max(1, (lines[line - 1] || "").length - column + 1));
  };
  return html`<h3>New scenario</h3>
    <form class="form" onSubmit=${(event) => { event.preventDefault(); upload(true); }}>
      <div class="field"><label for="scenario-file">From a file</label><input id="scenario-file" type="file" accept=".yaml,.yml,.json" onChange=${take} /></div>
      <div class="field"><label for="scenario-text">YAML or JSON</label><textarea id="scenario-text" class="code" ref=${area} rows="18" spellcheck="false" value=${text} aria-invalid=${error ? "true" : null} aria-describedby=${error ? "scenario-errors" : null} onInput=${(event) => setText(event.target.value)}></textarea>
        <p class="about">A scenario with the same name is replaced. The loaded scenario is deleted together with this world.</p></div>
      ${error ? html`<div id="scenario-errors" role="alert"><h4>${error.errors ? count(error.errors.length, "error") : "The scenario has errors"}</h4>
        ${error.errors ? html`<${Marked} text=${sent} errors=${error.errors} goTo=${goTo} />` : html`<${Failure} error=${error} />`}</div>` : ""}
      <div class="buttons"><button class="main">Upload and activate</button><button type="button" onClick=${() => upload(false)}>Upload only</button><button type="button" onClick=${() => go("scenarios")}>Cancel</button></div>
    </form>`;
}

/** The lines around errors, with each error below its line. */
function Marked({ text, errors, goTo }) {
  const lines = text.split("\n"), at = new Map();
  for (const one of errors) at.set(one.line, [...(at.get(one.line) || []), one]);
  const shown = lines.map((line, index) => [index + 1, line]).filter(([number]) => [...at.keys()].some((line) => Math.abs(line - number) <= 2));
  return html`<ol class="source">${shown.map(([number, line]) => html`<li key=${number} data-wrong=${at.has(number) ? "" : null}><span class="muted">${number}</span> <code>${line || " "}</code>
    ${(at.get(number) || []).map((one) => html`<p class="wrong"><button type="button" onClick=${() => goTo(one.line, one.column)}>Line ${one.line}, column ${one.column}</button> ${one.message} <code class="muted">${one.path}</code></p>`)}</li>`)}</ol>`;
}
