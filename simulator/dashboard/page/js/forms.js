// Forms for JSON Schemas. Each field has its description, its choices, and its error.
import { Failure } from "./ui.js";
import { html, useState } from "./lib.js";
import { meaningOf, objectOf, plain, sortOf } from "./schema.js";
import { words } from "./format.js";

/** One field of a form. `wrong`: the server's error for this field. */
export function Field({ name, schema, required, value, change, wrong }) {
  const sort = sortOf(schema), id = `field-${name.replaceAll(".", "-")}`;
  const shared = { id, name, required, "aria-describedby": `${id}-about`, "aria-invalid": wrong ? "true" : null };
  const type = (event) => change(name, event.target.value);
  const input = sort === "choice" || sort === "flag"
    ? html`<select ...${shared} value=${value ?? ""} onChange=${type}>${required && value ? "" : html`<option value="">${required ? "choose" : "not set"}</option>`}
        ${(sort === "flag" ? ["true", "false"] : schema.enum).map((choice) => html`<option value=${String(choice)}>${String(choice)}</option>`)}</select>`
    : sort === "json"
      ? html`<textarea ...${shared} rows="3" spellcheck="false" placeholder="JSON" value=${value ?? ""} onInput=${type}></textarea>`
      : html`${schema.suggestions ? html`<datalist id=${`${id}-list`}>${schema.suggestions.map((one) => html`<option value=${one} />`)}</datalist>` : ""}<input ...${shared} list=${schema.suggestions ? `${id}-list` : null} type=${sort === "integer" || sort === "number" ? "number" : "text"} step=${sort === "integer" ? "1" : sort === "number" ? "any" : null} autocomplete="off" spellcheck="false" value=${value ?? ""} onInput=${type} />`;
  return html`<div class="field"><label for=${id}>${words(name.split(".").at(-1))}${required ? html` <span class="muted">required</span>` : ""}</label>${input}
    <p id=${`${id}-about`} class="about">${schema.description || ""}${meaningOf(schema, value) ? html` <em>${words(value)}: ${meaningOf(schema, value)}</em>` : ""}${schema.examples?.length ? html` <span class="muted">For example ${String(schema.examples[0])}.</span>` : ""}${wrong ? html` <strong class="wrong">${wrong}</strong>` : ""}</p></div>`;
}

/** The fields for a schema. Nested objects become field sets. */
export function Fields({ schema, values, change, wrong = {}, resolve, prefix = "" }) {
  return Object.entries(schema.properties || {}).map(([name, member]) => {
    const part = plain(member, resolve), path = prefix + name;
    return sortOf(part) === "group"
      ? html`<fieldset key=${path}><legend>${words(name)}</legend>${part.description ? html`<p class="about">${part.description}</p>` : ""}
          <${Fields} schema=${part} values=${values} change=${change} wrong=${wrong} resolve=${resolve} prefix=${`${path}.`} /></fieldset>`
      : html`<${Field} key=${path} name=${path} schema=${part} required=${!prefix && (schema.required || []).includes(name)} value=${values[path]} change=${change} wrong=${wrong[path]} />`;
  });
}

/**
 * A form for a schema, or for the schema that a function returns for the entered values (strings by dotted names). The form awaits
 * `send(object)`, and shows an error at the field that it concerns. `first`: initial values.
 */
export function SchemaForm({ schema: given, send, ok = "OK", cancel, first = {}, resolve, children }) {
  const [values, setValues] = useState(first), [error, setError] = useState(null), [busy, setBusy] = useState(false);
  const schema = typeof given === "function" ? given(values) : given;
  const submit = async (event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setError(null);
    try {
      await send(objectOf(schema, values, resolve));
    } catch (refusal) {
      setError(refusal);
    }
    setBusy(false);
  };
  return html`<form class="form" onSubmit=${submit}>
    <${Fields} schema=${schema} values=${values} resolve=${resolve} wrong=${error?.param ? { [error.param]: error.message } : {}}
      change=${(name, value) => setValues((old) => ({ ...old, [name]: value }))} />
    ${children}${error ? html`<${Failure} error=${error} />` : ""}
    <div class="buttons"><button class="main" aria-busy=${busy ? "true" : null}>${ok}</button>${cancel ? html`<button type="button" onClick=${cancel}>Cancel</button>` : ""}</div>
  </form>`;
}
