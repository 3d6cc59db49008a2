import type { components, paths as ControlPaths } from "../types/control.js";
import type { paths } from "../types/openapi.js";
import { type BodyOf, Calls } from "./calls.js";
type Body<P extends keyof ControlPaths> = ControlPaths[P] extends {
    post: infer O;
} ? BodyOf<O> : never;
export type Service = Calls<paths>;
export type Keys = {
    publicKey: string;
    secretKey: string;
    webhookKey: string;
};
export type WorldOptions = Partial<Body<"/_simulator/worlds">>;
export type Until = NonNullable<Extract<Body<"/_simulator/clock/advance">, {
    until?: unknown;
}>["until"]>;
export type Receipt = components["schemas"]["AdvanceReceipt"];
export type Target = string | {
    id: string;
};
export declare class World {
    readonly url: string;
    readonly id: string;
    readonly baseUrl: string;
    readonly keys: Keys;
    /** The control interface of the simulator, in this world. */
    readonly control: Calls<ControlPaths>;
    private readonly sandbox;
    /** The simulated production: `world.production.call(...)`. */
    readonly production: Service;
    private constructor();
    private static controlOf;
    /** A new world of the simulator at SIMULATOR_URL, else http://127.0.0.1:8642: manual clock, nothing happens by itself. */
    static create(options?: WorldOptions): Promise<World>;
    /** A call of the interface with the keys of this world: `world.call("post", "/quotes", { body })`. */
    get call(): Service["call"];
    /** Calls with another key pair, such as one that `create_key` has made. */
    signIn(keys: Pick<Keys, "publicKey" | "secretKey">): Service;
    /** What the outside world does: `act("payment_arrives", onramp)`. */
    act(action: string, target?: Target, parameters?: Record<string, unknown>): Promise<{
        action: string;
        target: string | null;
        at: string;
        resource: Record<string, never> | null;
        events: components["schemas"]["Envelope"][];
        stopped_scenarios?: components["schemas"]["StoppedScenario"][];
    }>;
    /** Let simulated time pass: "31m", "3d"; webhooks that fall due are delivered before this returns. */
    advance(by: string | number): Promise<Receipt>;
    /** Let time pass until a resource has a status, or an event has come; Refused (`not_reached`) when it never does. */
    until(target: Target, status: string): Promise<Receipt>;
    until(goal: Until): Promise<Receipt>;
    /** What goes wrong on the wire, as `POST /_simulator/faults` takes it; gives the function that takes it away again. */
    fault(fault: Body<"/_simulator/faults">): Promise<() => Promise<void>>;
    /** Make exactly these scenarios active; none: nothing happens by itself. */
    scenario(...names: string[]): Promise<{
        names: string[];
        stopped_scenarios?: components["schemas"]["StoppedScenario"][];
    }>;
    /** Go all the way to an event, by calls and actions. */
    trigger(event: string, target?: Target): Promise<{
        event: components["schemas"]["Envelope"];
        target: string;
        steps: components["schemas"]["TriggerStep"][];
        events: components["schemas"]["Envelope"][];
        advanced_to: string | null;
        stopped_scenarios?: components["schemas"]["StoppedScenario"][];
    }>;
    /** Wait until no webhook is under way. */
    settle(): Promise<void>;
    /** Findings about the conduct of what was tested in this world. */
    advice(): Promise<{
        id: string;
        world?: string;
        kind: string;
        severity: "info" | "warning" | "error";
        subject: string;
        message: string;
        what_to_do: string;
        clause: string;
        why: string;
        changes: components["schemas"]["CodeChange"][];
        clause_links: string[];
        rests_on?: components["schemas"]["RestsOn"][];
        request_links: string[];
        count: number;
        requests: string[];
        evidence: string[];
        first_at: string | null;
        last_at: string | null;
    }[]>;
    /** The page on which a person sees what happened in this world. */
    get dashboard(): string;
    end(): Promise<void>;
}
export {};
