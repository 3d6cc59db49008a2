// A receiver of webhooks, as an integration has one: it takes what is genuine and refuses the rest.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const WEBHOOK_KEY = "whk_test_simulator";
const OLDEST_MS = 300_000;

function isGenuine(timestamp: string, signature: string, body: Buffer): boolean {
  if (!/^\d+$/.test(timestamp) || Math.abs(Date.now() - Number(timestamp)) > OLDEST_MS) return false;
  const expected = createHmac("sha256", WEBHOOK_KEY).update(`${timestamp}.`).update(body).digest();
  const given = Buffer.from(signature, "hex");
  return given.length === expected.length && timingSafeEqual(given, expected);
}

export type Receiver<Event> = { url: string; close(): void; next(type: string): Promise<Event> };

/** Listens on a port of its own; `next` resolves to the first genuine event of a type. */
export async function receive<Event extends { type: string }>(): Promise<Receiver<Event>> {
  const events: Event[] = [];
  let wake = () => {};
  const server = createServer(async (request, answer) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const genuine = isGenuine(String(request.headers["x-timestamp"]), String(request.headers["x-signature"]), body);
    answer.writeHead(genuine ? 200 : 401).end();
    if (genuine) events.push(JSON.parse(body.toString()) as Event);
    wake();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const next = async (type: string): Promise<Event> => {
    for (;;) {
      const found = events.find((event) => event.type === type);
      if (found) return found;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close(), next };
}

/** Lets the outside world do something: a call of the control interface, which no client of the service has. */
export async function act(origin: string, action: string, target: string): Promise<void> {
  const headers = { "Content-Type": "application/json" };
  const url = `${origin}/_simulator/actions/${action}`;
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify({ target }) });
  if (!answer.ok) throw new Error(`${action} answered ${answer.status}: ${await answer.text()}`);
}

/** What an answer holds; what was refused says so. */
export function taken<T>(result: { data?: T; error?: unknown }): T {
  if (result.data === undefined) throw new Error(`refused: ${JSON.stringify(result.error)}`);
  return result.data;
}
