// A receiver of webhooks in the process of the test: it verifies what comes, keeps it, and answers what it is told.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
const OLDEST_MS = 300_000;
/** Whether a webhook comes from the service: signed with the key over timestamp, dot and raw body, at most five minutes old. */
export function isGenuine(key, headers, body, nowMs = Date.now()) {
    const timestamp = String(headers["x-timestamp"] ?? "");
    if (!/^\d{1,15}$/.test(timestamp) || Math.abs(nowMs - Number(timestamp)) > OLDEST_MS)
        return false;
    const expected = Buffer.from(createHmac("sha256", key).update(`${timestamp}.`).update(body).digest("hex"));
    const given = Buffer.from(String(headers["x-signature"] ?? ""));
    return given.length === expected.length && timingSafeEqual(given, expected);
}
export class Webhooks {
    world;
    server;
    url;
    /** All that came, in its order; after `await world.settle()` nothing is under way. */
    received = [];
    /** What to answer: a status. Set it to see your own retries: `webhooks.answer = () => 500`. */
    answer = () => 200;
    constructor(world, server, url) {
        this.world = world;
        this.server = server;
        this.url = url;
    }
    /** Listens on a free port of loopback, or of the name in SIMULATOR_RECEIVER_HOST, and registers itself in the world. */
    static async open(world, events = ["*"]) {
        const host = process.env.SIMULATOR_RECEIVER_HOST;
        const server = createServer(async (request, response) => {
            const chunks = [];
            for await (const chunk of request)
                chunks.push(chunk);
            const status = await webhooks.take(request, Buffer.concat(chunks)).catch(() => 500);
            response.writeHead(status, { Connection: "close" }).end();
        });
        await new Promise((listening) => server.listen(0, host ? undefined : "127.0.0.1", listening));
        const { port } = server.address();
        const webhooks = new Webhooks(world, server, `http://${host ?? "127.0.0.1"}:${port}/webhooks`);
        const headers = { "Idempotency-Key": webhooks.url };
        await world.call("post", "/webhooks", { body: { url: webhooks.url, events: events }, headers });
        return webhooks;
    }
    async take(request, body) {
        const event = JSON.parse(body.toString());
        if (event.type === "webhook.test")
            return 200; // of the registration
        const genuine = isGenuine(this.world.keys.webhookKey, request.headers, body);
        const delivery = { event, headers: request.headers, body, genuine };
        this.received.push(delivery);
        return this.answer(delivery);
    }
    /** The first delivery of a type, about a resource if one is named; waits for what is under way. */
    async waitFor(type, about) {
        await this.world.settle();
        const id = typeof about === "object" ? about.id : about;
        const found = this.received.find(({ event }) => event.type === type && (id === undefined || event.data.object.id === id));
        if (found)
            return found;
        const came = this.received.map(({ event }) => event.type).join(", ") || "nothing";
        throw new Error(`${type}${id ? ` about ${id}` : ""} has not come; what came: ${came}. See ${this.world.dashboard}`);
    }
    async close() {
        await new Promise((closed) => this.server.close(closed));
    }
}
