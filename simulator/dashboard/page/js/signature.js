// Verify a webhook like a receiver: HMAC-SHA256 of `X-Timestamp`, a dot and the raw body, and the age of the timestamp.
import { quoted } from "./curl.js";
import { span } from "./format.js";

/** The maximum age of a timestamp in milliseconds. */
export const TOLERANCE_MS = 300_000;

/** Return a header by name, ignoring case. */
export const header = (headers, name) => Object.entries(headers).find(([one]) => one.toLowerCase() === name)?.[1];

/** The hex HMAC-SHA256 of a string with a key; null if the browser cannot compute it (pages without TLS from other machines). */
export async function hmac(key, text) {
  if (!globalThis.crypto?.subtle) return null;
  const bytes = new TextEncoder();
  const made = await crypto.subtle.importKey("raw", bytes.encode(key), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return [...new Uint8Array(await crypto.subtle.sign("HMAC", made, bytes.encode(text)))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * The verdict on a request: {verifies, why, expected}. `sentMs` is the sending time on the clock of the timestamp; if it is
 * null, only the signature is checked. `verifies` is null if the browser cannot compute an HMAC.
 */
export async function verdict({ headers, body, key, sentMs }) {
  const timestamp = header(headers, "x-timestamp"), signature = header(headers, "x-signature");
  if (!timestamp || !signature) return { verifies: false, why: "X-Timestamp or X-Signature is missing", expected: null };
  const expected = await hmac(key, `${timestamp}.${body}`);
  if (expected === null) return { verifies: null, why: "the browser cannot compute an HMAC, because this page comes from another machine without TLS; use the command instead", expected };
  if (expected !== signature) return { verifies: false, why: "the signature does not match this body and timestamp with the current webhook key of the world", expected };
  const age = sentMs === null ? 0 : sentMs - Number(timestamp);
  if (Math.abs(age) > TOLERANCE_MS) return { verifies: false, why: `the signature matches, but the timestamp is ${span(Math.abs(age))} ${age > 0 ? "old" : "ahead"}, more than the allowed ${span(TOLERANCE_MS)}`, expected };
  return { verifies: true, why: "the signature matches this body and timestamp with the webhook key of the world", expected };
}

/** A shell command that prints the correct signature. The key is in $WEBHOOK_KEY. */
export const shellLine = ({ headers, body }) =>
  `printf '%s' ${quoted(`${header(headers, "x-timestamp") || ""}.${body}`)} | openssl dgst -sha256 -hmac "$WEBHOOK_KEY"`;
