// E-mails that the service would have sent. The simulator sends none.
import { Empty, Facts, More, Shown, Split, Table, Time } from "../ui.js";
import { html, useState } from "../lib.js";
import { href } from "../routes.js";
import { useRead } from "../live.js";
import { withQuery } from "../api.js";

export function View({ rest: [id] }) {
  const [limit, setLimit] = useState(100);
  const reading = useRead(withQuery("/emails", { limit }), ["state", "delivery", "event"]);
  const chosen = reading.value?.data.find((row) => row.id === id);
  const list = html`<h2>E-mails</h2>
    <${Shown} reading=${reading}>${({ data }) => html`
      <${Table} label="E-mails" rows=${data.toReversed()} id=${(row) => row.id} selected=${id} open=${(row) => href("emails", row.id)} columns=${COLUMNS}
        empty=${html`<${Empty} title="No e-mails."><p>The service sends an e-mail when it disables a webhook endpoint after eleven failures. The simulator does not send it, but lists it here.</p><//>`} />
      <${More} shown=${data.length} limit=${limit} more=${() => setLimit(limit * 3)} noun="e-mails" />`}<//>`;
  const detail = chosen && html`<h3>${chosen.subject}</h3><${Facts} rows=${[["To", chosen.to], ["At", html`<${Time} at=${chosen.at} far />`]]} /><pre class="letter" tabindex="0" role="region" aria-label="The text">${chosen.body}</pre>`;
  return html`<${Split} list=${list} back=${href("emails")} detail=${detail} />`;
}

const COLUMNS = [
  { title: "Subject", className: "grow", cell: (row) => html`<a href=${href("emails", row.id)}>${row.subject}</a>` },
  { title: "To", cell: (row) => row.to },
  { title: "At", cell: (row) => html`<${Time} at=${row.at} />` },
];
