// Components of panels. Conventions for panels:
//
// - A panel is a module in panels/ with one component, View({rest, query}), and a row in panels.js. Its state is in the address:
//   `rest` says what is open (#/requests/ID), `query` has its filters; `go(...)` and `href(...)` of routes.js and navigation.js move there.
// - It reads with `useRead(path, topics)` (live.js), which stays current, and shows <Shown reading=${reading}>${(value) => …}<//>, so
//   that loading and errors look the same everywhere. Lists are bounded: request a `limit`, offer <More>.
// - It acts with <Act does=${async () => …}>Words<//>: the button is disabled meanwhile, the result or error appears in a toast, and
//   all shown data is reloaded. An irreversible action has `asks="Reset the world x?"` for a confirmation.
// - Parameters come from <SchemaForm schema=… send=…>, never as raw JSON, mostly in a dialog: `ask({title, about, body})`.
// - Strings are never markup: html`` cannot insert any. Names of styles describe the content.
// - Lists are <Table>: one row is one object, Enter opens its first link, `j` and `k` move between rows.
import { changedAll, clock } from "./live.js";
import { distance, fullTime, grouped, money, shortTime, toneOf, words } from "./format.js";
import { href, placeOf } from "./routes.js";
import { html, store, useEffect, useLayoutEffect, useRef, useState, useStore } from "./lib.js";
import { route } from "./navigation.js";

const SHAPES = {
  good: "M3 8.5 6.5 12 13 4.5",
  bad: "M4 4 12 12 M12 4 4 12",
  back: "M6.5 3 3 6.5 6.5 10 M3 6.5H10a3 3 0 0 1 0 6H7",
  ended: "M3.5 8H12.5",
  waiting: "M8 4.5V8l2.5 2 M8 2a6 6 0 1 0 0 12A6 6 0 1 0 8 2",
  warning: "M8 2.5V9 M8 12.2V13",
  moving: "M5.5 3.5 10 8 5.5 12.5",
  plain: "M8 5a3 3 0 1 0 0 6A3 3 0 1 0 8 5",
};

/** A status as text, with the colour and shape of its tone. */
export function Status({ value, tone = toneOf(value) }) {
  if (value === null || value === undefined || value === "") return null;
  return html`<span class="status" data-tone=${tone}><svg class="shape" viewBox="0 0 16 16" aria-hidden="true"><path d=${SHAPES[tone]} /></svg>${words(value)}</span>`;
}

/** A simulated time, short, with a full tooltip. `far`: also show the distance from now. */
export function Time({ at, far = false }) {
  const now = useStore(clock)?.now;
  if (!at) return null;
  return html`<time datetime=${at} title=${fullTime(at)}>${shortTime(at, now)}${far && now ? html` <span class="muted">${distance(at, now)}</span>` : ""}</time>`;
}

/** An amount with its currency: `Money amount="12.50" currency="USDC"`. */
export const Money = ({ amount, currency }) =>
  amount === null || amount === undefined ? null : html`<span class="money">${money(amount)} <span class="currency">${currency}</span></span>`;

/** An id with a link to its page (or to `to`; no link with to=${null}) and a copy button. */
export function Id({ id, to, copy = true }) {
  if (!id) return null;
  const shown = html`<code>${id}</code>`;
  return html`<span class="id">${to === null ? shown : html`<a href=${to ?? placeOf(id)}>${shown}</a>`}${copy ? html`<${Copy} text=${id} what=${id} />` : ""}</span>`;
}

/** A button that copies a string. `what` names it. */
export function Copy({ text, what = "it", children }) {
  const copy = async (event) => {
    event.stopPropagation();
    try {
      await navigator.clipboard.writeText(typeof text === "function" ? text() : text);
      toast(`Copied: ${what}.`);
    } catch {
      ask({ title: "Copy this text", body: () => html`<textarea readonly rows="6" aria-label="Text to copy">${typeof text === "function" ? text() : text}</textarea>` });
    }
  };
  return html`<button type="button" class=${children ? "copy" : "copy bare"} aria-label=${children ? null : `Copy ${what}`} title="Copy" onClick=${copy}>
    ${children || html`<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M5.5 5.5h7v8h-7z M3.5 10.5v-8h7" /></svg>`}</button>`;
}

const ID = /^[a-z]{2,8}_[a-z0-9]{16,}$/;
/** Characters that change the writing direction. In JSON they are escaped. */
const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const escaped = (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;
const MOST_CHARACTERS = 200_000;

/** A formatted JSON value, with ids as links. A string is shown unchanged. */
export function Json({ value, name = "JSON", links = true }) {
  const text = typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "").replace(TURNING, escaped);
  const shown = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}\n… (${text.length} characters in total; use the copy button for all)` : text;
  // The object whose page this is needs no link to itself.
  const leads = (word) => word[0] === '"' && ID.test(word.slice(1, -1)) && word.slice(1, -1) !== route.get().rest[0];
  const parts = links && typeof value !== "string" ? shown.split(/("(?:[^"\\]|\\.)*")/g) : [shown];
  return html`<div class="json"><${Copy} text=${text} what=${name} /><pre tabindex="0" role="region" aria-label=${name}>${parts.map((part) =>
    leads(part) ? html`"<a href=${placeOf(part.slice(1, -1))}>${part.slice(1, -1)}</a>"` : part)}</pre></div>`;
}

/** Names and values as a definition list: rows=${[["Status", html`…`], …]}. Rows without a value are omitted. */
export const Facts = ({ rows }) => html`<dl class="facts">${rows.filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false).map(
  ([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;

export const Loading = () => html`<p class="loading" role="status">Loading.</p>`;

/** An error message. */
export const Failure = ({ error, retry }) => html`<div class="failure" role="alert"><p>${error.message}</p>
  ${error.param && !error.message.includes(`\`${error.param}\``) ? html`<p class="muted">Parameter: <code>${error.param}</code>.</p>` : ""}
  ${retry ? html`<button type="button" onClick=${retry}>Try again</button>` : ""}</div>`;

/** An empty state, with the next step. */
export const Empty = ({ title, children }) => html`<div class="empty"><p><strong>${title}</strong></p>${children}</div>`;

/** The empty state of a filtered list. `panel`: the id of the panel, whose address without filters shows everything. */
export const NoMatch = ({ noun, panel }) => html`<${Empty} title=${`No ${noun} match these filters.`}><p><a href=${href(panel)}>Clear the filters</a> to see all ${noun}.</p><//>`;

/** A result of useRead: loading, error, or the value passed to a function. A later error is shown above the previous value. */
export function Shown({ reading, children }) {
  const draw = [children].flat().find((child) => typeof child === "function");
  if (reading.value === undefined) return reading.error ? html`<${Failure} error=${reading.error} retry=${reading.reload} />` : html`<${Loading} />`;
  return html`${reading.error ? html`<${Failure} error=${reading.error} retry=${reading.reload} />` : ""}${draw(reading.value)}`;
}

/**
 * A list of things. columns: [{title, cell: (row) => …, className?}]; `id(row)`: its key; `open(row)`: the target of Enter and a click;
 * `selected`: the key of the open row. `empty`: shown without rows. `group`: {by: (row) => key, head: (rows) => …} for rows with headings.
 */
export function Table({ label, columns, rows, id, open, selected, empty, group }) {
  if (!rows.length) return empty || html`<${Empty} title="Nothing to show." />`;
  const click = (row) => (event) => {
    if (open && !event.target.closest("a, button, input, select, summary") && !getSelection()?.toString()) location.hash = open(row);
  };
  return html`<div class="scroll"><table class="table" aria-label=${label}>
    <thead><tr>${columns.map((column) => html`<th scope="col" class=${column.className}>${column.title}</th>`)}</tr></thead>
    ${(group ? grouped(rows, group.by) : [["", rows]]).map(([key, part]) => html`<tbody key=${key}>${group ? html`<tr class="group"><th scope="rowgroup" colspan=${columns.length}>${group.head(part)}</th></tr>` : ""}${part.map((row) => html`<tr key=${id(row)} data-row=${id(row)} tabindex="-1" class=${open ? "opens" : null} aria-current=${selected === id(row) ? "true" : null} onClick=${click(row)}>
      ${columns.map((column) => html`<td class=${column.className} data-title=${column.title}>${column.cell(row)}</td>`)}</tr>`)}</tbody>`)}
  </table></div>`;
}

/** Below a bounded list: the number of shown rows, and a button for more. */
export const More = ({ shown, limit, more, noun = "rows" }) =>
  shown < limit ? null : html`<p class="more muted">The newest ${limit} ${noun}. <button type="button" onClick=${more}>Show more</button></p>`;

/** A list next to its open item; on a phone, one of the two. `back`: the address of the list. */
export function Split({ list, detail, back }) {
  const element = useRef(null), before = useRef(null), { rest, query } = useStore(route);
  const opened = detail ? rest[0] || query.editor || "it" : "";
  // Focus moves into the opened detail, and back to its row. A detail that is open when the page loads gets no focus.
  useEffect(() => {
    const left = before.current;
    before.current = opened;
    if (left === null || left === opened) return;
    let row = element.current.querySelector(`[data-row="${CSS.escape(left)}"]`);
    if (opened) {
      scrollTo({ top: 0 });
      row = element.current.querySelector('[aria-current="true"]');
      row?.scrollIntoView({ block: "nearest" });
    }
    (opened ? element.current.querySelector(".split-detail") : row?.querySelector("a") || row || document.getElementById("content"))?.focus({ preventScroll: Boolean(opened) });
  }, [opened]);
  return html`<div class="split" data-open=${detail ? "" : null} ref=${element}>
    <div class="split-list">${list}</div>
    ${detail ? html`<article class="split-detail" tabindex="-1"><a class="back" href=${back} data-back>Close</a>${detail}</article>` : ""}</div>`;
}

/** If the focused element disappears when a detail is redrawn, such as the button of a finished action, focus the detail. */
export function useKeptFocus() {
  const within = document.activeElement?.closest(".split-detail");
  useLayoutEffect(() => {
    if (within?.isConnected && document.activeElement === document.body) within.focus({ preventScroll: true });
  });
}

/** Filters above a list: fields=${[{name, label, choices?, placeholder?, type?}]}; `change(name, value)` gets what is chosen or typed. */
export function Filters({ fields, values, change }) {
  return html`<form class="filters" role="search" aria-label="Filter" onSubmit=${(event) => event.preventDefault()}>${fields.map((field) => html`<label>${field.label}
    ${field.choices
      ? html`<select value=${values[field.name] || ""} onChange=${(event) => change(field.name, event.target.value)}>
          <option value="">all</option>${field.choices.map((choice) => html`<option value=${choice}>${choice}</option>`)}</select>`
      : html`<input type=${field.type || "search"} step=${field.type ? 1 : null} value=${values[field.name] || ""} placeholder=${field.placeholder} autocomplete="off" onInput=${(event) => change(field.name, event.target.value)} />`}
  </label>`)}</form>`;
}

const said = store([]);
let sayings = 0;

const drop = (leaves) => said.set(said.get().filter((one) => !leaves(one)));
const SAID_MS = 6000, REFUSED_MS = 15_000;

/** Show a message for a while; a `bad` one longer, until another page is opened. */
export function toast(text, bad = false) {
  const one = { key: ++sayings, text, bad };
  said.set([...said.get().slice(-3), one]);
  setTimeout(() => drop((other) => other === one), bad ? REFUSED_MS : SAID_MS);
}

export function Toasts() {
  const rows = useStore(said), { panel, rest } = useStore(route);
  useEffect(() => drop((one) => one.bad), [panel, rest[0]]);
  return html`<div class="toasts" role="status" aria-live="polite">${rows.map((row) => html`<p key=${row.key} class="toast" data-tone=${row.bad ? "bad" : "good"}>${row.text}
    <button type="button" class="bare" aria-label="Close this message" onClick=${() => drop((other) => other === row)}>✕</button></p>`)}</div>`;
}

/** Run an action, show its result or error in a toast, then reload all shown data. */
export async function doing(does) {
  try {
    const words = await does();
    if (words) toast(words);
    return true;
  } catch (error) {
    toast(error.message, true);
    return false;
  } finally {
    changedAll();
  }
}

/** A button for an action. `asks`: a question to confirm first. It keeps the focus. */
export function Act({ does, asks, danger = Boolean(asks), label, title, className = "", place, children }) {
  const [busy, setBusy] = useState(false);
  const work = async () => {
    setBusy(true);
    await doing(does);
    setBusy(false);
  };
  const click = () => {
    if (busy) return;
    if (asks) ask({ title: asks, send: work, ok: children, danger: true });
    else work();
  };
  return html`<button type="button" class=${`${danger ? "danger" : ""} ${className}`.trim() || null} aria-disabled=${busy ? "true" : null} aria-busy=${busy ? "true" : null} aria-label=${label} title=${title} style=${place} onClick=${click}>${children}</button>`;
}

const asking = store(null);

/**
 * Ask in a dialog: {title, about, body?, send?, ok?, danger?}. `body(close)` draws what is in it. With `send` there is an OK button, which
 * awaits it. An error is shown in the dialog, which stays open.
 */
export const ask = (question) => asking.set(question);
export const closeDialog = () => asking.set(null);

export function Dialogs() {
  const question = useStore(asking);
  return question ? html`<${Dialog} key=${question.title} ...${question} />` : null;
}

function Dialog({ title, about, body, send, ok = "OK", danger = false }) {
  const element = useRef(null), [error, setError] = useState(null), [busy, setBusy] = useState(false);
  useEffect(() => {
    const opener = document.activeElement;
    element.current.showModal();
    element.current.querySelector(danger ? ".buttons button[type=button]" : "input, select, textarea, .buttons button, .presets button")?.focus();
    return () => (opener.isConnected && opener !== document.body ? opener : document.querySelector(".split-detail") || document.getElementById("content"))?.focus({ preventScroll: true });
  }, []);
  const submit = async (event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    try {
      await send();
      closeDialog();
    } catch (refusal) {
      setError(refusal);
    }
    setBusy(false);
  };
  const frame = (inside) => (send ? html`<form onSubmit=${submit}>${inside}</form>` : html`<div>${inside}</div>`);
  return html`<dialog ref=${element} class="dialog" aria-labelledby="dialog-title" onClose=${closeDialog}>
    <header><h2 id="dialog-title">${title}</h2><button type="button" class="bare" aria-label="Close" onClick=${closeDialog}>✕</button></header>
    ${about ? html`<p class="muted">${about}</p>` : ""}
    ${frame(html`${body ? body(closeDialog) : ""}${error ? html`<${Failure} error=${error} />` : ""}
      ${send ? html`<div class="buttons"><button class=${danger ? "danger" : "main"} aria-busy=${busy ? "true" : null}>${ok}</button><button type="button" onClick=${closeDialog}>Cancel</button></div>` : ""}`)}
  </dialog>`;
}
