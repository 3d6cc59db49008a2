// Control interface calls: the world, the control token, and errors with their location.
import { store } from "./lib.js";

/** The URL of the control interface, relative to this page, so that it works under a prefix. */
export const BASE = new URL(".", location.href).href.slice(0, -1);
const asked = new URLSearchParams(location.search).get("world");

/** The id of the current world. Change it with `chooseWorld`. */
export const world = store(asked || "default");
/** Whether the address contains a world. If it does not and there is no world `default`, the first accessible world is shown. */
export const wasAsked = Boolean(asked);
/** Whether the server requires its control token. */
export const needsToken = store(false);
let token = sessionStorage.getItem("control-token") || "";

export function giveToken(text) {
  token = text;
  sessionStorage.setItem("control-token", text);
  needsToken.set(false);
}

export function chooseWorld(id) {
  const address = new URL(location.href);
  address.searchParams.set("world", id);
  address.hash = "#/";
  history.pushState(null, "", address);
  world.set(id);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/** An error response: `message`, `status`, `code`, `param` (the wrong field), `allowed`, `errors` (with line and column). */
export class Refused extends Error {
  constructor(status, error) {
    super(error?.message || `The server returned ${status} without a message.`);
    Object.assign(this, { param: null, ...error, message: this.message, status });
  }
}

export const headers = (more) => ({ "X-Simulator-World": world.get(), ...(token ? { Authorization: `Bearer ${token}` } : {}), ...more });

/**
 * One call: await api("POST", "/faults", {body}). `environment`: sandbox or production. `text`: a body that is not JSON, with
 * `type`. `raw`: return the response as a string. Throws `Refused`, with status 0 if the server does not respond.
 */
export async function api(method, path, { body, text, type = "application/json", environment, raw = false, signal } = {}) {
  const sent = text === undefined ? (body === undefined ? undefined : JSON.stringify(body)) : text;
  let answer;
  try {
    answer = await fetch(BASE + path, {
      method,
      signal,
      body: sent,
      headers: headers({ ...(sent === undefined ? {} : { "Content-Type": type }), ...(environment ? { "X-Simulator-Environment": environment } : {}) }),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, { message: "No simulator responds at this address. Is the server still running?" });
  }
  const got = await answer.text();
  if (answer.ok) return raw ? got : got ? JSON.parse(got) : null;
  if (answer.status === 401) needsToken.set(true);
  let value = null;
  try { value = JSON.parse(got); } catch { /* no envelope: the status has to do */ }
  throw new Refused(answer.status, value?.error);
}

export const get = (path, options) => api("GET", path, options);
export const post = (path, body, options) => api("POST", path, { body, ...options });
export const put = (path, body, options) => api("PUT", path, { body, ...options });
export const patch = (path, body, options) => api("PATCH", path, { body, ...options });
export const del = (path, options) => api("DELETE", path, options);

/** Return a path with a query, without empty parameters: `/deliveries?status=failed&limit=100`. */
export function withQuery(path, query) {
  const named = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return named.length ? `${path}?${new URLSearchParams(named)}` : path;
}

/**
 * Make an API call like an integrator's application; returns {status, value}. Do not use it for inspection: it appears in
 * the journal, counts against the rate limit, and may change something.
 */
export async function callInterface(method, path, { headers: given = {}, body } = {}) {
  // This header marks calls by the simulator's own tools, which advice and coverage ignore.
  const answer = await fetch(BASE.slice(0, -"/_simulator".length) + path, { method, headers: { ...given, "X-Simulator-Tool": "dashboard" }, body });
  const text = await answer.text();
  try { return { status: answer.status, value: JSON.parse(text) }; } catch { return { status: answer.status, value: text }; }
}

/** Open another page of the server in a tab. A link cannot send a token. If one is needed, fetch the page and show the copy. */
export async function openPage(event) {
  if (!token) return;
  event.preventDefault();
  const { href } = event.currentTarget;
  const tab = window.open("about:blank");
  const answer = await fetch(href, { headers: headers() });
  const page = (await answer.text()).replaceAll(/="([a-z]+\.(?:css|js|html))/g, `="${BASE}/$1`);
  tab.location = URL.createObjectURL(new Blob([page], { type: "text/html" }));
}
