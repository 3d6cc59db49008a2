// Built-in webhook receivers: their messages and response statuses.
import { Act, Copy, Empty, Facts, Json, More, Shown, Split, Status, Table, Time, toast } from "../ui.js";
import { changedAll, useRead } from "../live.js";
import { del, post, put, withQuery } from "../api.js";
import { html, useState } from "../lib.js";
import { fullTime } from "../format.js";
import { go } from "../navigation.js";
import { href } from "../routes.js";

export function View({ rest: [name, message] }) {
  const reading = useRead("/inbox", ["delivery", "request", "own"]);
  const list = html`
    <h2>Inboxes</h2>
    <p class="muted">Built-in webhook receivers. An inbox saves each message and responds with 200, or with statuses that you set.</p>
    <${NewInbox} />
    <${Shown} reading=${reading}>${({ data }) => html`<${Table} label="Inboxes" rows=${data} id=${(row) => row.name} selected=${name} open=${(row) => href("inbox", row.name)} columns=${COLUMNS}
      empty=${html`<${Empty} title="No inboxes."><p>Enter a name above to create a webhook endpoint that receives every event of this world.</p><//>`} />`}<//>`;
  return html`<${Split} list=${list} back=${href("inbox")} detail=${name && html`<${Inbox} key=${name} name=${name} message=${message} about=${reading.value?.data.find((one) => one.name === name)} />`} />`;
}

const COLUMNS = [
  { title: "Inbox", className: "grow", cell: (row) => html`<a href=${href("inbox", row.name)}>${row.name}</a>` },
  { title: "Messages", cell: (row) => row.messages },
  { title: "Response", cell: (row) => row.respond.join(", ") },
];

function NewInbox() {
  const [name, setName] = useState("");
  const make = async () => {
    if (!/^[A-Za-z0-9._-]{1,64}$/.test(name)) throw new Error("Use letters, digits, dots, dashes and underscores.");
    await post(`/inbox/${encodeURIComponent(name)}/subscribe`, {});
    setName("");
    go("inbox", name);
    return `The inbox ${name} is a webhook endpoint that subscribes to every event.`;
  };
  return html`<form class="line" onSubmit=${(event) => event.preventDefault()}><label>Name <input value=${name} placeholder="shop" autocomplete="off" onInput=${(event) => setName(event.target.value)} /></label>
    <${Act} does=${make} className="main">Create and subscribe<//></form>`;
}

function Inbox({ name, message, about }) {
  const [limit, setLimit] = useState(100), path = `/inbox/${encodeURIComponent(name)}`;
  const reading = useRead(withQuery(path, { limit }), ["delivery", "own"]);
  return html`<h3>${name}</h3>
    <${Facts} rows=${[["Address", about && html`<code>${about.url}</code> <${Copy} text=${about.url} what="the address of the inbox" />`]]} />
    ${about ? html`<${Answers} path=${path} present=${about.respond} />` : ""}
    <div class="buttons"><${Act} does=${async () => { await del(path); return `The inbox ${name} is empty.`; }} asks=${`Delete all messages in the inbox ${name}?`}>Empty it<//></div>
    <${Shown} reading=${reading}>${({ data, dropped }) => {
      const rows = data.map((row, index) => ({ ...row, number: index + dropped })).reverse(), chosen = rows.find((row) => String(row.number) === message);
      return html`<h4>Messages</h4>
        <${Table} label="Messages" rows=${rows} id=${(row) => row.number} selected=${chosen?.number} open=${(row) => href("inbox", [name, String(row.number)])} columns=${MESSAGES(name)}
          empty=${html`<${Empty} title="No messages yet."><p><a href=${href("actions")}>Cause an event</a>, and its message appears here.</p><//>`} />
        <${More} shown=${data.length} limit=${limit} more=${() => setLimit(limit * 3)} noun="messages" />
        ${dropped ? html`<p class="muted">${dropped} older messages were deleted to save memory.</p>` : ""}
        ${chosen ? html`<h4>${typeOf(chosen)}</h4>
          <p class="muted">Received at ${fullTime(chosen.at)} (real time). Response: <${Status} value=${chosen.status} />${chosen.truncated ? " Only the beginning was saved." : ""}</p>
          <h5>Body</h5><${Json} value=${parsed(chosen.body)} name="Body" /><h5>Headers</h5><${Json} value=${chosen.headers} name="Headers" links=${false} />` : ""}`;
    }}<//>`;
}

const MESSAGES = (name) => [
  { title: "Message", className: "grow", cell: (row) => html`<a href=${href("inbox", [name, String(row.number)])}>${typeOf(row)}</a>` },
  { title: "Response", cell: (row) => html`<${Status} value=${row.status} />` },
  { title: "Received (real time)", cell: (row) => html`<${Time} at=${row.at} />` },
];

/** The form for the next response statuses of an inbox. */
function Answers({ path, present }) {
  // What is typed stays while the inbox works through its statuses.
  const [typed, setTyped] = useState(null), [wrong, setWrong] = useState("");
  const text = typed ?? present.join(" ");
  const submit = async (event) => {
    event.preventDefault();
    try {
      await put(path, { respond: text.split(/[\s,]+/).filter(Boolean).map(Number) });
      setWrong("");
      setTyped(null);
      toast("The inbox now responds with this status.");
      changedAll();
    } catch (error) {
      setWrong(error.message);
    }
  };
  return html`<form class="line" onSubmit=${submit}><label>Response statuses <input value=${text} placeholder="500 500 200" aria-describedby="answers-about" aria-invalid=${wrong ? "true" : null} onInput=${(event) => setTyped(event.target.value)} /></label><button>Set</button>
    <span id="answers-about" class="muted">Statuses in order, separated by spaces. The last one repeats.</span>${wrong ? html`<strong class="wrong" role="alert">${wrong}</strong>` : ""}</form>`;
}

function parsed(text) {
  try { return JSON.parse(text); } catch { return text; }
}

function typeOf(row) {
  const type = parsed(row.body)?.type;
  return typeof type === "string" ? type : "a message without a type";
}
