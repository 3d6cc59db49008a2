// A call as a shell command. This module does not use the DOM, so Node can test it.

/** Quote a string as one word for a POSIX shell. */
export const quoted = (text) => (/^[A-Za-z0-9_./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

const KEPT = /^(content-type|idempotency-key|accept|accept-language|traceparent|x-simulator-(?!tool$)[a-z-]+)$/i;

/** A curl command for a request in the journal. The journal masks the token, so the command reads $TOKEN. */
export function curl(row, origin) {
  const parts = ["curl", "-sS"];
  if (row.method !== "GET") parts.push("-X", row.method);
  parts.push(quoted(`${origin}${row.path}${row.query ? `?${row.query}` : ""}`));
  for (const [name, value] of Object.entries(row.headers)) {
    if (/^authorization$/i.test(name)) parts.push("-H", '"Authorization: Bearer $TOKEN"');
    else if (KEPT.test(name)) parts.push("-H", quoted(`${name}: ${value}`));
  }
  if (row.body !== null && row.body !== undefined) parts.push("--data-raw", quoted(typeof row.body === "string" ? row.body : JSON.stringify(row.body)));
  return parts.join(" ");
}
