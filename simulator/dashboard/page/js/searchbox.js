// The search box for everything: `/` focuses it, arrow keys select, Enter opens, Escape leaves.
import { Status, Time } from "./ui.js";
import { get, withQuery, world } from "./api.js";
import { href } from "./routes.js";
import { html, useEffect, useState, useStore } from "./lib.js";
import { words } from "./format.js";

const PAUSE_MS = 120;

/** The address of a result. */
export function placeOf(found) {
  if (found.sort === "email") return href("emails", found.id);
  if (found.sort === "delivery") return href("deliveries", found.id);
  return href(`${found.sort}s`, found.id);
}

export function SearchBox() {
  const worldId = useStore(world), [text, setText] = useState(""), [answer, setAnswer] = useState(null), [chosen, setChosen] = useState(0), [open, setOpen] = useState(false);
  useEffect(() => {
    setAnswer(null);
    setChosen(0);
    if (!text.trim()) return undefined;
    const leave = new AbortController();
    const timer = setTimeout(async () => {
      const found = await find(text, leave.signal);
      if (found && !leave.signal.aborted) setAnswer(found);
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      leave.abort();
    };
  }, [text, worldId]);
  const rows = answer?.data || [];
  const leave = () => {
    setOpen(false);
    setText("");
    document.activeElement?.blur();
  };
  const go = (row) => {
    if (row) location.hash = placeOf(row);
    leave();
    document.getElementById("content")?.focus();
  };
  const key = async (event) => {
    if (event.key === "Escape") leave();
    else if (event.key === "ArrowDown") setChosen(Math.min(chosen + 1, rows.length - 1));
    else if (event.key === "ArrowUp") setChosen(Math.max(chosen - 1, 0));
    else if (event.key === "Enter") {
      event.preventDefault();
      // If Enter is pressed before the results arrive, open the first result when it arrives.
      const found = answer || (text.trim() ? await find(text) : null);
      if (found?.data?.length) go(found.data[answer ? chosen : 0]);
      else if (found) setAnswer(found);
      return;
    } else return;
    event.preventDefault();
  };
  const shown = open && text.trim() && answer;
  return html`<div class="search" role="search">
    <input id="search" type="search" placeholder="Search everything" aria-label="Search everything" title="Reference, id, amount, phone number, address, status …" autocomplete="off" spellcheck="false" maxlength="200"
      role="combobox" aria-expanded=${shown ? "true" : "false"} aria-controls="found" aria-activedescendant=${shown && rows.length ? `found-${chosen}` : null} aria-keyshortcuts="/"
      value=${text} onInput=${(event) => { setText(event.target.value); setOpen(true); }} onFocus=${() => setOpen(true)} onBlur=${() => setTimeout(() => setOpen(false), 150)} onKeyDown=${key} />
    <kbd aria-hidden="true">/</kbd>
    <div class="found" hidden=${!shown}>
      ${shown && answer.error ? html`<p role="alert">${answer.error}</p>` : ""}
      ${shown && !answer.error && !rows.length ? html`<p class="muted" role="status">No results in this world for “${text.trim()}”.</p>` : ""}
      <ul id="found" role="listbox" aria-label="Results">${shown ? rows.map((row, index) => html`<li id=${`found-${index}`} key=${row.path + index} role="option" aria-selected=${index === chosen ? "true" : "false"}
        onMouseDown=${(event) => event.preventDefault()} onClick=${() => go(row)} onMouseEnter=${() => setChosen(index)}>
        <span class="what">${words(row.kind)}</span> <span class="title">${row.title}</span> ${row.status ? html`<${Status} value=${/^\d+$/.test(row.status) ? Number(row.status) : row.status} />` : ""}
        <span class="because muted">${row.matched.value === row.title ? "" : html`${words(row.matched.field)}: ${row.matched.value}`} <${Time} at=${row.at} /></span></li>`) : ""}</ul>
      ${shown && answer.truncated ? html`<p class="muted">The newest ${answer.looked_at.toLocaleString("en")} objects were searched.</p>` : ""}
    </div></div>`;
}

/** The server's results, null if the search was cancelled, or an object with `error`. */
async function find(text, signal) {
  try {
    return await get(withQuery("/search", { q: text.trim(), limit: 12 }), { signal });
  } catch (error) {
    return error.name === "AbortError" ? null : { data: [], error: error.message };
  }
}
