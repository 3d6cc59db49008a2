// Faults on the wire: a form to add them, and their live hits.
import { Act, Empty, Facts, Failure, Id, Json, Shown, Split, Table, toast } from "../ui.js";
import { EXAMPLE, about, begins, effect, often, texts } from "../faults.js";
import { changedAll, useRead } from "../live.js";
import { del, post, world } from "../api.js";
import { html, useState, useStore } from "../lib.js";
import { useContract, withMembers } from "../contract.js";
import { SchemaForm } from "../forms.js";
import { count } from "../format.js";
import { go } from "../navigation.js";
import { href } from "../routes.js";

const doubts = new Map(); // fault id -> the server's warning at creation that the fault may never apply

export function View({ rest: [id], query }) {
  const reading = useRead("/faults", ["request", "delivery", "own"]);
  const list = html`
    <h2>Faults</h2>
    <div class="buttons"><a class="button main" href=${href("faults", "new")}>New fault</a>
      ${reading.value?.data.length ? html`<${Act} asks="Remove all faults, including those of scenarios?" does=${async () => { await del("/faults"); go("faults"); return "All faults were removed."; }}>Remove all<//>` : ""}</div>
    <${Shown} reading=${reading}>${({ data }) => html`<${Table} label="Faults" rows=${data} id=${(row) => row.id} selected=${id} open=${(row) => href("faults", row.id)} columns=${COLUMNS}
      empty=${html`<${Empty} title="No faults."><p>A fault makes calls fail, loses responses, or sends webhooks twice, late or forged. <a href=${href("faults", "new")}>Add a fault</a>, then run your application.</p><//>`} />`}<//>`;
  const chosen = reading.value?.data.find((row) => row.id === id);
  const detail = id === "new" ? html`<${NewFault} key=${query.kind} kind=${query.kind || "calls"} />` : id && (chosen ? html`<${Detail} fault=${chosen} />` : html`<${Empty} title="This fault was removed."><p><a href=${href("faults")}>See the other faults</a></p><//>`);
  return html`<${Split} list=${list} back=${href("faults")} detail=${detail} />`;
}

const hits = (row) => html`${count(row.hits, "hit")}${row.times_left === null ? "" : row.times_left === 0 ? ", exhausted" : `, ${row.times_left} left`}`;

const COLUMNS = [
  { title: "Fault", className: "grow", cell: (row) => html`<a href=${href("faults", row.id)}>${about(row)}</a><div class="muted">${effect(row)}</div>` },
  { title: "Hits", cell: (row) => html`<span class="hits" data-hit=${row.hits ? "" : null}>${hits(row)}</span>` },
  { title: "Added", cell: (row) => row.scenario || "by hand" },
];

function Detail({ fault }) {
  const { id, hits: many, times_left, scenario, ...given } = fault, why = doubts.get(id) || [];
  const end = async () => {
    await del(`/faults/${encodeURIComponent(id)}`);
    go("faults");
    return "The fault was removed. Deliveries that it delayed are sent now.";
  };
  return html`<h3>${about(fault)} ${effect(fault)}</h3>
    ${why.length ? html`<div class="failure" role="note"><p>It may never apply:</p><ul>${why.map((one) => html`<li>${one}</li>`)}</ul></div>` : ""}
    <${Facts} rows=${[["How often", often(fault)], ["Hits", hits(fault)], ["Added", scenario ? html`by the scenario <a href=${href("scenarios", scenario)}>${scenario}</a>` : "by hand"], ["Id", html`<${Id} id=${id} to=${null} />`]]} />
    ${many ? "" : html`<p class="muted">Not applied yet. It waits for ${about(fault)}${fault.match?.path ? "; the path is a glob below the base URL" : ""}.</p>`}
    <div class="buttons"><${Act} does=${end} danger>Remove<//><button type="button" onClick=${() => again(given)}>Duplicate</button></div>
    <h4>Definition</h4><${Json} value=${given} name="Fault" links=${false} />`;
}

let like = null; // the initial values of the next form

function again(fault) {
  like = fault;
  go("faults", "new", { kind: fault.webhook ? "deliveries" : "calls", like: Date.now() });
}

const KINDS = { calls: "Calls", deliveries: "Webhook deliveries", json: "As JSON" };

function NewFault({ kind }) {
  const [first, setFirst] = useState(() => { const taken = like; like = null; return taken; }), [version, setVersion] = useState(0);
  const [chosen, setChosen] = useState(null);
  const presets = (useRead("/faults/presets").value?.data || []).filter(({ fault }) => kind === (fault.deliver ? "deliveries" : "calls"));
  const begin = (preset) => {
    setChosen(preset.name);
    setFirst(begins(preset));
    setVersion(version + 1);
  };
  const send = async (fault) => {
    const made = await post("/faults", fault);
    doubts.set(made.id, made.warnings);
    toast(made.warnings.length ? "Fault added, but it may never apply." : "Fault added.");
    go("faults", made.id);
    changedAll();
  };
  return html`<h3>New fault</h3>
    <div class="tabs" role="group" aria-label="Kind of fault">${Object.entries(KINDS).map(([name, title]) => html`<a key=${name} href=${href("faults", "new", { kind: name })} aria-current=${name === kind ? "true" : null}>${title}</a>`)}</div>
    ${presets.length ? html`<p class="muted">Start with a preset, then set when it applies:</p>
      <div class="presets">${presets.map((preset) => html`<div key=${preset.name}><button type="button" aria-pressed=${chosen === preset.name ? "true" : "false"} onClick=${() => begin(preset)}>${preset.name}</button> <span class="muted">${preset.means}</span></div>`)}</div>` : ""}
    ${kind === "json" ? html`<${AsJson} send=${send} first=${first} />` : kind === "deliveries" ? html`<${OfDeliveries} key=${version} first=${first} send=${send} />` : html`<${OfCalls} key=${version} first=${first} send=${send} />`}`;
}

function OfCalls({ first, send }) {
  const contract = useContract(), present = useRead(`/worlds/${encodeURIComponent(useStore(world))}`).value;
  const operations = useRead("/coverage").value?.operations || [], actions = useRead("/actions").value?.data || [];
  if (!contract) return null;
  const fault = contract.schema("InterfaceFault"), part = (name) => contract.resolve(fault.properties[name].$ref || fault.properties[name].anyOf[0].$ref);
  const paths = [...new Set(operations.map((one) => one.path.replace(/\{[^}]*\}/g, "*")))];
  const keys = Object.values(present?.credentials || {}).map((one) => one.public_key);
  const match = withMembers(part("match"), { method: { enum: ["GET", "POST", "PUT", "PATCH", "DELETE"] }, path: { suggestions: paths }, public_key: { enum: keys } });
  const possible = actions.filter((one) => !one.targets.length);
  const act = (name) => {
    const chosen = possible.find((one) => one.name === name), needs = Object.keys(chosen?.parameters.properties || {}).length;
    return withMembers(part("act"), { action: { enum: possible.map((one) => one.name), "x-enum-descriptions": possible.map((one) => one.does) }, parameters: needs ? { ...chosen.parameters, additionalProperties: false } : null });
  };
  const { match: _, respond, delay, answer_delay, drop, malformed, after_commit, times, ...rest } = fault.properties;
  const schema = (values) => ({ ...fault, properties: {
    match: { ...match, description: fault.properties.match.description }, times, respond, delay, answer_delay, drop, after_commit, malformed, ...rest,
    act: { ...act(values["act.action"]), description: fault.properties.act.description },
  } });
  return html`<${SchemaForm} schema=${schema} resolve=${contract.resolve} first=${first ? texts(first) : {}} send=${(made) => send({ match: {}, ...made })} ok="Add fault" cancel=${() => go("faults")} />`;
}

function OfDeliveries({ first, send }) {
  const contract = useContract(), endpoints = useRead("/resources?type=webhook&limit=200", ["state"]).value?.data || [];
  if (!contract) return null;
  const fault = contract.schema("WebhookFault"), { webhook, deliver, times, ...rest } = fault.properties;
  const which = withMembers(contract.resolve(webhook.$ref), { event: contract.events, endpoint_id: { suggestions: endpoints.map((one) => one.id) } });
  const ordered = { webhook: { ...which, description: webhook.description }, times, deliver, ...rest };
  return html`<${SchemaForm} schema=${{ ...fault, properties: ordered }} resolve=${contract.resolve} first=${first ? texts(first) : {}} send=${(made) => send({ webhook: {}, deliver: {}, ...made })} ok="Add fault" cancel=${() => go("faults")} />`;
}

function AsJson({ send, first }) {
  const [text, setText] = useState(JSON.stringify(first || EXAMPLE, null, 2)), [error, setError] = useState(null);
  const submit = async (event) => {
    event.preventDefault();
    try {
      await send(JSON.parse(text));
    } catch (refusal) {
      setError(refusal);
    }
  };
  return html`<form class="form" onSubmit=${submit}><div class="field"><label for="fault-json">The fault</label>
    <textarea id="fault-json" rows="12" spellcheck="false" value=${text} onInput=${(event) => setText(event.target.value)}></textarea></div>
    ${error ? html`<${Failure} error=${error} />` : ""}<div class="buttons"><button class="main">Add fault</button></div></form>`;
}
