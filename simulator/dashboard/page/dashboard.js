"use strict";
// A client of the control interface. The stream only tells what has changed; everything shown is fetched.
if (window.top !== window) throw new Error("The dashboard is not shown inside other pages.");
// Where the control interface lies: beside this page, also where the server is mounted under a prefix.
const BASE = new URL(".", location.href).href.slice(0, -1);
const $ = (id) => document.getElementById(id);
const at = (time) => time.slice(0, 19).replace("T", " ");
const due = (timer) => (timer.due_at ? at(timer.due_at) : `waits for ${timer.waiting_for.join(", ")}`);
const json = (value) => JSON.stringify(value, null, 2);
const asked = new URLSearchParams(location.search).get("world");
let worldId = asked || "default";
let token = sessionStorage.getItem("control-token") || "";
let chosen = named();
let catalogue = [], scenarios = [], resources = [], clock = null, clockReadAt = 0, stream = null;

/** The id that the address names behind its #; what is no encoded text is taken as it stands. */
function named() {
  const hash = location.hash.slice(1);
  try { return decodeURIComponent(hash); } catch { return hash; }
}

/** An element with attributes (functions are listeners) and children, which are text unless they are elements. */
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

/** Show items in a list; what has not changed keeps its element, so that focus and open details stay. */
function fill(list, items, draw) {
  const known = list.known || new Map(), fresh = new Map();
  const [focused] = [...known].find(([, row]) => row.element.contains(document.activeElement)) || [];
  items.forEach((item, index) => {
    const text = JSON.stringify(item), key = item.id || text + index, old = known.get(key);
    fresh.set(key, old && old.text === text ? old : { text, element: h("li", {}, draw(item)) });
  });
  const wanted = [...fresh.values()].map((row) => row.element);
  for (const element of [...list.children]) if (!wanted.includes(element)) element.remove();
  wanted.forEach((element, index) => {
    if (list.children[index] !== element) list.insertBefore(element, list.children[index] || null);
  });
  list.known = fresh;
  const row = fresh.get(focused)?.element;
  if (row && !row.contains(document.activeElement)) row.querySelector("button, input, summary")?.focus({ preventScroll: true });
}

function more(summary, value) {
  const body = h("pre", { tabindex: "0" });
  return h("details", { toggle: () => { body.textContent = json(value()); } }, h("summary", {}, summary), body);
}

const state = (word) => h("span", { class: "state" }, word);
const headers = (extra) => ({ "X-Simulator-World": worldId, ...(token ? { Authorization: `Bearer ${token}` } : {}), ...extra });

function say(text, bad) {
  $("message").textContent = text;
  $("message").className = bad ? "bad" : "good";
}

/** One control call; throws an Error with the message of the answer. */
async function api(method, path, body, environment) {
  const answer = await fetch(BASE + path, {
    method,
    headers: headers({
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...(environment ? { "X-Simulator-Environment": environment } : {}),
    }),
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text(), value = text ? JSON.parse(text) : null;
  if (answer.ok) return value;
  throw Object.assign(new Error(value?.error?.message || `The server answered ${answer.status}.`), { status: answer.status });
}

/** Do something for a button or form: it is off meanwhile, and the outcome is shown. */
async function doing(source, work, said) {
  const hadFocus = document.activeElement === source;
  source.disabled = true;
  try {
    const answer = await work();
    say(typeof said === "function" ? said(answer) : said);
  } catch (error) {
    say(error.message, true);
  } finally {
    source.disabled = false;
    if (hadFocus && source.isConnected) source.focus({ preventScroll: true });
    changed(...Object.keys(READ));
  }
}

/** Ask in a dialog. `send` gets the form's fields and may throw, which is shown; the dialog then stays. */
function ask(title, about, fields, send) {
  const dialog = $("dialog");
  if (dialog.open) return;
  $("dialog-title").textContent = title;
  $("dialog-about").textContent = about;
  $("dialog-error").textContent = "";
  $("dialog-fields").replaceChildren(...fields);
  $("dialog-form").onsubmit = async (event) => {
    event.preventDefault();
    $("dialog-ok").disabled = true;
    try {
      await send($("dialog-form"));
      dialog.close();
    } catch (error) {
      $("dialog-error").textContent = error.message;
    } finally {
      $("dialog-ok").disabled = false;
    }
  };
  dialog.showModal();
}
$("dialog-cancel").onclick = () => $("dialog").close();

function askForToken() {
  const field = h("input", { type: "password", autocomplete: "off", required: true, "aria-label": "Control token" });
  ask("Control token", "This server needs the token it was started with (--control-token).", [field], async () => {
    token = field.value;
    sessionStorage.setItem("control-token", token);
    $("dialog").close();
    say("");
    begin();
  });
}

// Actions: one button each; what needs parameters asks for them by the schema of the action.
function schemaOf(action, kind) {
  const variants = action.parameters.anyOf;
  if (!variants) return action.parameters;
  return variants.length === action.targets.length ? variants[action.targets.indexOf(kind)] : variants[0];
}

function plain(schema) {
  return (schema.anyOf || [schema]).find((part) => part.type !== "null") || schema;
}

function field(name, member, required) {
  const schema = plain(member);
  let input;
  const choices = schema.enum || (schema.type === "boolean" ? ["true", "false"] : null);
  if (choices) {
    input = h("select", { name, required }, required ? [] : h("option", { value: "" }, "(not set)"), choices.map((word) => h("option", {}, word)));
    if (member.default) input.value = member.default;
  } else if (schema.type === "string") input = h("input", { name, required, pattern: schema.pattern?.replace(/\\x00/g, "\\u0000") });
  else if (schema.type === "integer" || schema.type === "number") {
    input = h("input", { name, required, type: "number", step: schema.type === "integer" ? "1" : "any" });
  } else input = h("textarea", { name, required, rows: "2", placeholder: "JSON", spellcheck: "false" });
  input.schema = schema;
  return h("label", {}, `${name.replaceAll("_", " ")}${required ? " (required)" : ""}`, input);
}

function read(form) {
  const found = {};
  for (const input of form.querySelectorAll("[name]")) {
    if (input.value === "") continue;
    const isText = input.schema.type === "string" || (input.schema.enum && !input.schema.type);
    found[input.name] = isText ? input.value : JSON.parse(input.value);
  }
  return found;
}

function actionButton(action, target, kind) {
  const schema = schemaOf(action, kind), members = Object.entries(schema.properties || {});
  const environment = target ? undefined : () => $("environment").value;
  const send = async (parameters) => {
    const answer = await api("POST", `/actions/${action.name}`, target ? { target, ...parameters } : parameters, environment?.());
    say(`${action.name}: done, ${answer.events.length} event${answer.events.length === 1 ? "" : "s"}.`);
    if (!target) {
      $("answer").hidden = false;
      $("answer").textContent = json(answer.resource);
    }
    changed(...Object.keys(READ));
  };
  const click = async (event) => {
    if (members.length) {
      const needed = schema.required || [];
      ask(action.name, action.does, members.map(([name, member]) => field(name, member, needed.includes(name))), (form) => send(read(form)));
    } else await doing(event.currentTarget, () => send({}), `${action.name}: done.`);
  };
  return h("button", { type: "button", title: action.does, click }, action.name.replaceAll("_", " "));
}

function choose(id) {
  chosen = id;
  $("story").shown = "";
  if (id && matchMedia("(max-width: 45rem)").matches) $("story-section").scrollIntoView();
  if (!id) $("story").replaceChildren(h("p", { class: "muted" }, "Choose a resource."));
  history.replaceState(null, "", `?world=${encodeURIComponent(worldId)}#${encodeURIComponent(id)}`);
  changed("story");
  drawResources();
}

function drawResources() {
  const words = $("resource-filter").value.toLowerCase();
  const shown = resources.filter((row) => `${row.kind} ${row.id} ${row.status || ""}`.toLowerCase().includes(words));
  fill($("resources"), shown.map((row) => ({ id: row.id, kind: row.kind, status: row.status, environment: row.environment, chosen: row.id === chosen })), (row) => [
    h("button", { type: "button", class: "plain", click: () => choose(row.id) }, h("code", {}, row.id)), " ",
    row.kind.replaceAll("_", " "), " ", row.status ? state(row.status) : "", row.environment === "production" ? " production" : "",
  ]);
  for (const row of $("resources").known.values()) row.element.setAttribute("aria-current", JSON.parse(row.text).chosen);
}

function drawStory(about) {
  const row = (...parts) => h("li", {}, parts);
  const list = (title, rows) => (rows.length ? [h("h3", {}, title), h("ul", { class: "list" }, rows)] : []);
  const buttons = about.allowed.map((name) => catalogue.find((action) => action.name === name)).filter(Boolean);
  $("story").replaceChildren(
    h("p", {}, h("code", {}, about.resource.id || chosen), " ", about.kind.replaceAll("_", " "), " ", about.state ? state(about.state) : ""),
    h("div", { class: "line", role: "group", "aria-label": "Actions" },
      buttons.length ? buttons.map((action) => actionButton(action, chosen, about.kind)) : h("span", { class: "muted" }, "No action is possible now.")),
    ...list("History", about.history.map((step) => row(h("span", { class: "muted" }, at(step.at)), " ", state(step.state), " ", step.cause?.text || step.trigger))),
    ...list("Planned", about.timers.map((timer) => row(h("span", { class: "muted" }, due(timer)), " ", timer.text || `${timer.action} (${timer.scenario})`))),
    ...list("Events", about.events.map((event) => row(h("span", { class: "muted" }, at(event.at)), " ", event.type))),
    ...list("Related", about.related.map((other) => row(other.relation, " ", h("button", { type: "button", class: "plain", click: () => choose(other.id) }, other.id), " ", other.state ? state(other.state) : ""))),
    more("The resource", () => about.resource), more("Ledger entries", () => about.ledger_entries), more("Deliveries", () => about.deliveries),
  );
}

function drawScenarios() {
  const words = $("scenario-filter").value.toLowerCase();
  const shown = scenarios.filter((row) => `${row.name} ${row.description}`.toLowerCase().includes(words));
  shown.sort((one, other) => other.active - one.active);
  $("scenario-count").textContent = `${scenarios.filter((row) => row.active).length} of ${scenarios.length} active`;
  fill($("scenarios"), shown.map((row) => ({ id: row.name, active: row.active, stopped: row.stopped, description: row.description })), (row) => {
    const box = h("input", { type: "checkbox", change: () => doing(box, () => toggle(row.id, box.checked), `${row.id} is ${box.checked ? "active" : "off"}.`) });
    box.checked = row.active;
    return [h("label", {}, box, " ", h("strong", {}, row.id)), row.stopped ? h("div", { class: "bad" }, `Stopped: ${row.stopped}.`) : "", h("div", { class: "muted" }, row.description)];
  });
}

/** Later names win, so what is switched on comes last. */
async function toggle(name, on) {
  const active = (await api("GET", `/worlds/${encodeURIComponent(worldId)}`)).scenarios.filter((other) => other !== name);
  await api("PUT", "/scenarios/active", { names: on ? [...active, name] : active });
}

function drawKeys(world) {
  const text = JSON.stringify(world.credentials);
  if ($("keys").shown === text) return;
  $("keys").shown = text;
  $("keys").replaceChildren(...Object.entries(world.credentials).flatMap(([environment, keys]) => [
    h("h3", {}, environment),
    h("dl", {}, Object.entries(keys).flatMap(([name, value]) => {
      const isSecret = /secret|webhook/.test(name) && !value.endsWith("_simulator");
      const shown = h("code", {}, isSecret ? `${value.slice(0, 9)}…` : value);
      const copy = async () => {
        try {
          await navigator.clipboard.writeText(value);
          say(`The ${name.replace("_", " ")} (${environment}) is copied.`);
        } catch {
          prompt("Copy it from here:", value);
        }
      };
      return [h("dt", {}, name.replace("_", " ")), h("dd", {}, shown), h("dd", {}, h("button", { type: "button", "aria-label": `Copy the ${name.replace("_", " ")} of ${environment}`, click: copy }, "Copy"))];
    })),
  ]));
}

function tick() {
  if (!clock) return;
  const passed = clock.mode === "manual" ? 0 : (Date.now() - clockReadAt) * (clock.mode === "scaled" ? Number(clock.rate) : 1);
  $("now").textContent = `${at(new Date(Date.parse(clock.now) + passed).toISOString())} UTC`;
}

const newest = async (path) => (await api("GET", path)).data.reverse();
const READ = {
  async worlds() {
    const worlds = (await api("GET", "/worlds")).data, present = worlds.find((world) => world.id === worldId);
    $("world").replaceChildren(...worlds.map((world) => h("option", {}, world.id)));
    if (!present && !asked && worlds.length) {  // a token for some worlds reaches no default
      worldId = worlds[0].id;
      return begin();
    }
    if (present) drawKeys(present);
    else throw new Error(`There is no world ${worldId}.`);
    $("world").value = worldId;
    for (const page of ["reference", "coverage"]) $(page).href = `${BASE}/${page}.html?world=${encodeURIComponent(worldId)}`;
  },
  async clock() {
    const before = clock;
    clock = await api("GET", "/clock");
    clockReadAt = Date.now();
    tick();
    $("next").textContent = clock.next_timer_at ? `next timer ${at(clock.next_timer_at)}` : "no timer is set";
    if (before?.mode !== clock.mode) $("mode").value = clock.mode;
    if (before?.rate !== clock.rate) $("rate").value = clock.rate;
  },
  async timers() {
    const rows = (await api("GET", "/timers")).data;
    $("timer-count").textContent = rows.length ? String(rows.length) : "";
    fill($("timers"), rows.slice(0, 100), (row) => [h("span", { class: "muted" }, due(row)), ` ${row.kind} `,
      row.target ? h("button", { type: "button", class: "plain", click: () => choose(row.target) }, h("code", {}, row.target)) : ""]);
  },
  async requests() {
    fill($("requests"), await newest("/requests?limit=100"), (row) => more([h("span", { class: row.status < 400 ? "good" : "bad" }, String(row.status)), ` ${row.method} ${row.path} `,
      h("span", { class: "muted" }, at(row.at), row.advice.length ? ` · ${row.advice.join(", ")}` : "")], () => row));
  },
  async events() {
    fill($("events"), await newest("/events?limit=100"), (row) => more([row.type, " ", h("span", { class: "muted" }, at(row.created_at), ` · ${row.data?.object?.id || ""}`)], () => row));
  },
  async deliveries() {
    fill($("deliveries"), await newest("/deliveries?limit=100"), (row) => more([state(row.status), " ", row.event_type || row.event_id, " ",
      h("span", { class: "muted" }, `${row.response_status ?? ""} ${row.attempt ? `attempt ${row.attempt}` : ""} ${row.attempted_at || row.created_at ? at(row.attempted_at || row.created_at) : ""}`)], () => row));
  },
  async resources() {
    resources = await newest("/resources?limit=200");
    drawResources();
  },
  async story() {
    if (!chosen) return;
    if (!catalogue.length) await READ.actions();
    const id = chosen, about = await api("GET", `/resources/${encodeURIComponent(id)}`), text = JSON.stringify(about);
    if (id !== chosen || $("story").shown === text) return;
    $("story").shown = text;
    drawStory(about);
  },
  async scenarios() {
    scenarios = (await api("GET", "/scenarios")).data;
    drawScenarios();
  },
  async faults() {
    fill($("faults"), (await api("GET", "/faults")).data, (row) => [h("code", {}, JSON.stringify(row)), " ",
      h("button", { type: "button", "aria-label": `End the fault ${row.id}`, click: (event) => doing(event.currentTarget, () => api("DELETE", `/faults/${row.id}`), "The fault is gone.") }, "End")]);
  },
  async advice() {
    const rows = await newest("/advice?limit=100");
    $("advice-count").textContent = `${rows.length} finding${rows.length === 1 ? "" : "s"}`;
    fill($("advice"), rows, (row) => more([h("strong", {}, row.severity), ` ${row.message || row.title || row.kind}`], () => row));
  },
  async actions() {
    if (catalogue.length) return;
    catalogue = (await api("GET", "/actions")).data;
    $("actions").replaceChildren(...catalogue.filter((action) => !action.targets.length).map((action) => actionButton(action)));
  },
};

// What the stream tells is collected; a page that reads slowly reads less often, and nobody waits for it.
const SHOWN_BY = { request: ["requests", "advice"], state: ["resources", "timers", "story", "clock"], event: ["events", "story"], delivery: ["deliveries", "timers", "advice"], clock: ["clock", "timers", "story"] };
const stale = new Set();
let reading = null;
function changed(...names) {
  names.forEach((name) => stale.add(name));
  reading ||= setTimeout(async () => {
    const now = [...stale], ofWorld = worldId;
    stale.clear();
    for (const name of now) {
      try {
        await READ[name]();
      } catch (error) {
        if (error.status === 401) {
          stale.clear();
          askForToken();
          break;
        }
        if (name === "story") $("story").replaceChildren(h("p", { class: "muted" }, error.message));
        else say(error.message, true);
      }
      if (ofWorld !== worldId) break;
    }
    reading = null;
    if (stale.size) changed();
  }, 150);
}

async function follow() {
  stream?.abort();
  const mine = (stream = new AbortController());
  while (!mine.signal.aborted) {
    try {
      const answer = await fetch(`${BASE}/stream?world=${encodeURIComponent(worldId)}`, { headers: headers(), signal: mine.signal });
      if (answer.status === 401) return;
      if (!answer.ok) throw new Error("no stream");
      $("live").textContent = "live";
      changed(...Object.keys(READ));
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let rest = ""; ;) {
        const { done, value } = await reader.read();
        if (done) break;
        const lines = (rest + value).split(/\r?\n/);
        rest = lines.pop();
        for (const line of lines) if (line.startsWith("event: ")) changed(...(SHOWN_BY[line.slice(7)] || []));
      }
    } catch { /* shown below */ }
    if (mine.signal.aborted) return;
    $("live").textContent = "not connected, trying again";
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
}

function begin() {
  clock = null;
  $("story").shown = $("keys").shown = "";
  changed(...Object.keys(READ));
  follow();
}

const advance = (source, how) => doing(source, () => api("POST", "/clock/advance?wait=true", how),
  (done) => `Now ${at(done.now)}: ${done.fired} timers fired, ${done.events.length} events, ${done.deliveries} deliveries.`);
for (const button of document.querySelectorAll("[data-by]")) button.onclick = () => advance(button, { by: button.dataset.by });
document.querySelector("[data-next]").onclick = (event) => advance(event.currentTarget, { to_next_timer: true });
$("advance-form").onsubmit = (event) => {
  event.preventDefault();
  advance(event.submitter, { by: $("by").value });
};
$("mode-form").onsubmit = (event) => {
  event.preventDefault();
  const mode = $("mode").value;
  doing(event.submitter, () => api("PUT", "/clock?wait=true", { mode, ...(mode === "scaled" ? { rate: Number($("rate").value) } : {}) }), `The clock is ${mode}.`);
};
$("fault-form").onsubmit = (event) => {
  event.preventDefault();
  doing(event.submitter, async () => api("POST", "/faults", JSON.parse($("fault").value)), "The fault is in force.");
};
$("world").onchange = () => {
  worldId = $("world").value;
  choose("");
  say("");
  $("answer").hidden = true;
  begin();
};
$("reset").onclick = (event) => {
  if (!confirm(`Reset the world ${worldId}? Its resources, events and requests are lost.`)) return;
  choose("");
  doing(event.currentTarget, () => api("POST", "/reset"), "The world is as at its beginning.");
};
$("refresh").onclick = () => changed(...Object.keys(READ));
$("resource-filter").oninput = drawResources;
$("scenario-filter").oninput = drawScenarios;
// A link carries no token: with one, the other pages are fetched and shown from memory.
for (const link of document.querySelectorAll("nav a")) {
  link.onclick = async (event) => {
    if (!token) return;
    event.preventDefault();
    const tab = window.open("about:blank");
    const answer = await fetch(link.href, { headers: headers() });
    const page = (await answer.text()).replaceAll(/="([a-z]+\.(?:css|js|html))/g, `="${BASE}/$1`);
    tab.location = URL.createObjectURL(new Blob([page], { type: "text/html" }));
  };
}
window.onhashchange = () => choose(named());
setInterval(tick, 1000);
begin();
