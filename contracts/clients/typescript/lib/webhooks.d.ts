import { type IncomingMessage } from "node:http";
import type { webhooks } from "../types/openapi.js";
import type { Target, World } from "./world.js";
type Told = webhooks[keyof webhooks]["post"]["requestBody"]["content"]["application/json"];
export type WebhookEvent = Told;
export type Delivery = {
    event: WebhookEvent;
    headers: IncomingMessage["headers"];
    body: Buffer;
    genuine: boolean;
};
/** Whether a webhook comes from the service: signed with the key over timestamp, dot and raw body, at most five minutes old. */
export declare function isGenuine(key: string, headers: IncomingMessage["headers"], body: Buffer, nowMs?: number): boolean;
export declare class Webhooks {
    private readonly world;
    private readonly server;
    readonly url: string;
    /** All that came, in its order; after `await world.settle()` nothing is under way. */
    readonly received: Delivery[];
    /** What to answer: a status. Set it to see your own retries: `webhooks.answer = () => 500`. */
    answer: (delivery: Delivery) => number | Promise<number>;
    private constructor();
    /** Listens on a free port of loopback, or of the name in SIMULATOR_RECEIVER_HOST, and registers itself in the world. */
    static open(world: World, events?: string[]): Promise<Webhooks>;
    private take;
    /** The first delivery of a type, about a resource if one is named; waits for what is under way. */
    waitFor(type: WebhookEvent["type"], about?: Target): Promise<Delivery>;
    close(): Promise<void>;
}
export {};
