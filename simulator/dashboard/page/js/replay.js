// Making a journalled call again, in place: with a token of its own, since the journal keeps none.
import { callInterface, get, world } from "./api.js";

/** Why a call cannot be made again as it was, "" when it can. */
export function whyNot(row) {
  if (row.operation && /token/.test(row.operation)) return "The journal does not save the keys of this call.";
  return row.operation ? "" : "No operation has this path.";
}

const KEPT = /^(content-type|accept|accept-language|x-simulator-(?!tool$)[a-z-]+)$/i;

/** The idempotency key of a call, null without one. */
export const keyOf = (row) => Object.entries(row.headers).find(([name]) => /^idempotency-key$/i.test(name))?.[1] ?? null;

/** The headers that a call is made again with; `key`: its idempotency key, null for none. */
export function headersOf(row, token, key) {
  const kept = Object.entries(row.headers).filter(([name]) => KEPT.test(name) && !/^x-simulator-world$/i.test(name));
  return { ...Object.fromEntries(kept), Authorization: `Bearer ${token}`, ...(key === null ? {} : { "Idempotency-Key": key }) };
}

/** Make a call again by the keys of the world: {status, value}. A call for a token comes before it. */
export async function replay(row, key) {
  const { credentials } = await get(`/worlds/${encodeURIComponent(world.get())}`);
  const { public_key, secret_key } = credentials[row.environment];
  const base = row.environment === "production" ? "/production/v1" : "/v1";
  const login = await callInterface("POST", `${base}/auth/token`, { headers: { "Content-Type": "application/json" }, body: JSON.stringify({ public_key, secret_key }) });
  if (login.status >= 400) throw new Error(`No token for the keys of this world: ${login.value?.error?.message || login.status}`);
  const body = row.body === null ? undefined : typeof row.body === "string" ? row.body : JSON.stringify(row.body);
  return callInterface(row.method, `${row.path}${row.query ? `?${row.query}` : ""}`, { headers: headersOf(row, login.value.access_token, key), body });
}
