// Repeating a call from the journal. It gets a new token, because the journal does not save tokens.
import { callInterface, get, world } from "./api.js";

/** The reason why a call cannot be repeated unchanged, or "". */
export function whyNot(row) {
  if (row.operation && /token/.test(row.operation)) return "The journal does not store the API keys used for this call.";
  return row.operation ? "" : "No operation has this path.";
}

const KEPT = /^(content-type|accept|accept-language|x-simulator-(?!tool$)[a-z-]+)$/i;

/** The idempotency key of a call, or null. */
export const keyOf = (row) => Object.entries(row.headers).find(([name]) => /^idempotency-key$/i.test(name))?.[1] ?? null;

/** The headers for repeating a call. `key`: the idempotency key, or null for none. */
export function headersOf(row, token, key) {
  const kept = Object.entries(row.headers).filter(([name]) => KEPT.test(name) && !/^x-simulator-world$/i.test(name));
  return { ...Object.fromEntries(kept), Authorization: `Bearer ${token}`, ...(key === null ? {} : { "Idempotency-Key": key }) };
}

/** Repeat a call with the keys of the world, after a token exchange. Returns {status, value}. */
export async function replay(row, key) {
  const { credentials } = await get(`/worlds/${encodeURIComponent(world.get())}`);
  const { public_key, secret_key } = credentials[row.environment];
  const base = row.environment === "production" ? "/production/v1" : "/v1";
  const login = await callInterface("POST", `${base}/auth/token`, { headers: { "Content-Type": "application/json" }, body: JSON.stringify({ public_key, secret_key }) });
  if (login.status >= 400) throw new Error(`No token for the keys of this world: ${login.value?.error?.message || login.status}`);
  const body = row.body === null ? undefined : typeof row.body === "string" ? row.body : JSON.stringify(row.body);
  return callInterface(row.method, `${row.path}${row.query ? `?${row.query}` : ""}`, { headers: headersOf(row, login.value.access_token, key), body });
}
