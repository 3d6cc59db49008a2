// Every resource, and the story of one: how it came to be, what it is connected with, and what can happen to it next.
import { Empty, Facts, Filters, Id, Json, More, Shown, Split, Status, Table, Time, ask, closeDialog, doing, toast } from "../ui.js";
import { SchemaForm } from "../forms.js";
import { changedAll, useRead } from "../live.js";
import { count, words } from "../format.js";
import { filter } from "../navigation.js";
import { href } from "../routes.js";
import { html, useState } from "../lib.js";
import { post, withQuery } from "../api.js";

export function View({ rest: [id], query }) {
  const [limit, setLimit] = useState(100);
  const reading = useRead(withQuery("/resources", { type: query.type, limit }), ["state"]);
  const list = html`
    <h2>Resources</h2>
    <${Filters} values=${query} change=${filter} fields=${[{ name: "type", label: "Type", placeholder: "transaction" }]} />
    <${Shown} reading=${reading}>${({ data }) => html`
      <${Table} label="Resources" rows=${data.toReversed()} id=${(row) => row.id} selected=${id} open=${(row) => href("resources", row.id, query)} columns=${COLUMNS(query)}
        empty=${html`<${Empty} title="There are no resources yet."><p>They show here as soon as a call makes one. The overview has a first one to copy.</p><//>`} />
      <${More} shown=${data.length} limit=${limit} more=${() => setLimit(limit * 3)} noun="resources" />`}<//>`;
  return html`<${Split} list=${list} back=${href("resources", [], query)} detail=${id && html`<${Story} key=${id} id=${id} />`} />`;
}

const COLUMNS = (query) => [
  { title: "Reference", className: "grow", cell: (row) => html`<a href=${href("resources", row.id, query)}>${row.reference || html`<code>${row.id}</code>`}</a>` },
  { title: "Kind", cell: (row) => words(row.type || row.kind) },
  { title: "Status", cell: (row) => html`<${Status} value=${row.status} />` },
  { title: "Updated", cell: (row) => html`<${Time} at=${row.updated_at || row.created_at} />` },
];

function Story({ id }) {
  const reading = useRead(`/resources/${encodeURIComponent(id)}`, ["state", "event", "delivery", "clock"]);
  const actions = useRead("/actions");
  return html`<${Shown} reading=${reading}>${(about) => html`
    <h3>${about.resource.reference || words(about.kind)} <${Status} value=${about.state} /></h3>
    <${Facts} rows=${[["Id", html`<${Id} id=${about.resource.id || id} to=${null} />`], ["Kind", words(about.kind)], ["Environment", about.environment]]} />
    <h4>What can happen now</h4>
    <${Actions} about=${about} catalogue=${actions.value?.data || []} />
    <h4>History</h4>
    <ol class="history">${about.history.map((step) => html`<li><${Time} at=${step.at} /> <${Status} value=${step.state} /> <span>${step.cause?.text || step.trigger}</span></li>`)}</ol>
    ${about.timers.length ? html`<h4>Planned</h4><ul class="history">${about.timers.map((timer) => html`<li>${timer.due_at ? html`<${Time} at=${timer.due_at} far />` : `waits for ${timer.waiting_for.join(", ")}`} ${timer.text || `${words(timer.action)} (${timer.scenario})`}</li>`)}</ul>` : ""}
    ${about.related.length ? html`<h4>Related</h4><ul class="related">${about.related.map((other) => html`<li>${words(other.relation)} <${Id} id=${other.id} copy=${false} /> <${Status} value=${other.state} /></li>`)}</ul>` : ""}
    <h4>As the interface shows it</h4><${Json} value=${about.resource} name="The resource" />`}<//>`;
}

function Actions({ about, catalogue }) {
  const possible = about.allowed.map((name) => catalogue.find((action) => action.name === name)).filter(Boolean);
  if (!possible.length) return html`<p class="muted">No action is possible now.</p>`;
  return html`<div class="buttons" role="group" aria-label="Actions">${possible.map((action) => html`<${ActionButton} key=${action.name} action=${action} target=${about.resource.id} kind=${about.kind} />`)}</div>`;
}

/** The parameters of an action on a kind of resource. */
export function schemaOf(action, kind) {
  const variants = action.parameters.anyOf;
  if (!variants) return action.parameters;
  return variants.length === action.targets.length ? variants[action.targets.indexOf(kind)] : variants[0];
}

/** A button that performs an action; what needs parameters asks for them. Without a target it acts on the world, in `environment`. */
export function ActionButton({ action, target, kind, environment, done }) {
  const schema = schemaOf(action, kind);
  const perform = async (parameters) => {
    const answer = await post(`/actions/${action.name}`, target ? { target, ...parameters } : parameters, { environment });
    done?.(answer);
    return `${words(action.name)}: done, ${count(answer.events.length, "event")}.`;
  };
  const send = async (parameters) => {
    toast(await perform(parameters));
    closeDialog();
    changedAll();
  };
  const click = () => Object.keys(schema.properties || {}).length
    ? ask({ title: words(action.name), about: action.does, body: () => html`<${SchemaForm} schema=${schema} send=${send} cancel=${closeDialog} />` })
    : doing(() => perform({}));
  return html`<button type="button" title=${action.does} onClick=${click}>${words(action.name)}</button>`;
}
