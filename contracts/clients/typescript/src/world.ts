// A world: one simulation with its own keys, clock, books and webhooks, and what a test does to it.
import type { components, paths as ControlPaths } from "../types/control.js";
import type { paths } from "../types/openapi.js";
import { type BodyOf, Calls } from "./calls.js";
import { originOf, refuseLiveKeys } from "./safety.js";

type Body<P extends keyof ControlPaths> = ControlPaths[P] extends { post: infer O } ? BodyOf<O> : never;
export type Service = Calls<paths>;
export type Keys = { publicKey: string; secretKey: string; webhookKey: string };
export type WorldOptions = Partial<Body<"/_simulator/worlds">>;
export type Until = NonNullable<Extract<Body<"/_simulator/clock/advance">, { until?: unknown }>["until"]>;
export type Receipt = components["schemas"]["AdvanceReceipt"];
export type Target = string | { id: string };

const idOf = (target: Target): string => (typeof target === "string" ? target : target.id);

/** Calls of the interface under one key pair; a token is fetched with the first, and anew when it has lapsed. */
function service(base: string, keys: Pick<Keys, "publicKey" | "secretKey">): Service {
  let token: Promise<string> | undefined;
  const open = new Calls<paths>(base, () => ({}));
  const body = { public_key: keys.publicKey, secret_key: keys.secretKey };
  const signIn = () => (token ??= open.call("post", "/auth/token", { body }).then((answer) => answer.access_token));
  return new Calls<paths>(base, async () => ({ Authorization: `Bearer ${await signIn()}` }), () => (token = undefined));
}

export class World {
  readonly id: string;
  readonly baseUrl: string;
  readonly keys: Keys;
  /** The control interface of the simulator, in this world. */
  readonly control: Calls<ControlPaths>;
  private readonly sandbox: Service;
  /** The simulated production: `world.production.call(...)`. */
  readonly production: Service;

  private constructor(readonly url: string, info: components["schemas"]["WorldObject"]) {
    const { sandbox, production } = info.credentials;
    this.id = info.id;
    this.baseUrl = sandbox.base_url;
    this.keys = { publicKey: sandbox.public_key, secretKey: sandbox.secret_key, webhookKey: sandbox.webhook_key };
    this.control = World.controlOf(url, { "X-Simulator-World": info.id });
    this.sandbox = service(sandbox.base_url, this.keys);
    this.production = service(production.base_url, { publicKey: production.public_key, secretKey: production.secret_key });
  }

  private static controlOf(url: string, headers: Record<string, string>): Calls<ControlPaths> {
    const token = process.env.SIMULATOR_CONTROL_TOKEN;
    return new Calls<ControlPaths>(url, () => (token ? { ...headers, Authorization: `Bearer ${token}` } : headers));
  }

  /** A new world of the simulator at SIMULATOR_URL, else http://127.0.0.1:8642: manual clock, nothing happens by itself. */
  static async create(options: WorldOptions = {}): Promise<World> {
    const url = originOf(process.env.SIMULATOR_URL ?? "http://127.0.0.1:8642");
    const body = { scenarios: [], ...options } as Body<"/_simulator/worlds">;
    return new World(url, await World.controlOf(url, {}).call("post", "/_simulator/worlds", { body }));
  }

  /** A call of the interface with the keys of this world: `world.call("post", "/quotes", { body })`. */
  get call(): Service["call"] {
    return this.sandbox.call.bind(this.sandbox) as Service["call"];
  }

  /** Calls with another key pair, such as one that `create_key` has made. */
  signIn(keys: Pick<Keys, "publicKey" | "secretKey">): Service {
    refuseLiveKeys(keys);
    return service(this.baseUrl, keys);
  }

  /** What the outside world does: `act("payment_arrives", onramp)`. */
  act(action: string, target?: Target, parameters: Record<string, unknown> = {}) {
    const body = target === undefined ? parameters : { target: idOf(target), ...parameters };
    return this.control.call("post", "/_simulator/actions/{action}", { path: { action }, body });
  }

  /** Let simulated time pass: "31m", "3d"; webhooks that fall due are delivered before this returns. */
  advance(by: string | number): Promise<Receipt> {
    return this.control.call("post", "/_simulator/clock/advance", { body: { by } });
  }

  /** Let time pass until a resource has a status, or an event has come; Refused (`not_reached`) when it never does. */
  until(target: Target, status: string): Promise<Receipt>;
  until(goal: Until): Promise<Receipt>;
  until(goal: Target | Until, status?: string): Promise<Receipt> {
    const until = (status === undefined ? goal : { resource: idOf(goal as Target), status }) as Until;
    return this.control.call("post", "/_simulator/clock/advance", { body: { until } });
  }

  /** What goes wrong on the wire, as `POST /_simulator/faults` takes it; gives the function that takes it away again. */
  async fault(fault: Body<"/_simulator/faults">): Promise<() => Promise<void>> {
    const { id } = await this.control.call("post", "/_simulator/faults", { body: fault });
    return async () => void (await this.control.call("delete", "/_simulator/faults/{id}", { path: { id } }));
  }

  /** Make exactly these scenarios active; none: nothing happens by itself. */
  scenario(...names: string[]) {
    return this.control.call("put", "/_simulator/scenarios/active", { body: { names } });
  }

  /** Go all the way to an event, by calls and actions. */
  trigger(event: string, target?: Target) {
    const body = (target === undefined ? { event } : { event, target: idOf(target) }) as Body<"/_simulator/trigger">;
    return this.control.call("post", "/_simulator/trigger", { body });
  }

  /** Wait until no webhook is under way. */
  async settle(): Promise<void> {
    await this.control.call("post", "/_simulator/settle");
  }

  /** Findings about the conduct of what was tested in this world. */
  async advice() {
    return (await this.control.call("get", "/_simulator/advice")).data;
  }

  /** The page on which a person sees what happened in this world. */
  get dashboard(): string {
    return `${this.url}/_simulator/dashboard?world=${encodeURIComponent(this.id)}`;
  }

  async end(): Promise<void> {
    await this.control.call("delete", "/_simulator/worlds/{id}", { path: { id: this.id } });
  }
}
