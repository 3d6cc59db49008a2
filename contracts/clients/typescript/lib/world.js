import { Calls } from "./calls.js";
import { originOf, refuseLiveKeys } from "./safety.js";
const idOf = (target) => (typeof target === "string" ? target : target.id);
/** Calls of the interface under one key pair; a token is fetched with the first, and anew when it has lapsed. */
function service(base, keys) {
    let token;
    const open = new Calls(base, () => ({}));
    const body = { public_key: keys.publicKey, secret_key: keys.secretKey };
    const signIn = () => (token ??= open.call("post", "/auth/token", { body }).then((answer) => answer.access_token));
    return new Calls(base, async () => ({ Authorization: `Bearer ${await signIn()}` }), () => (token = undefined));
}
export class World {
    url;
    id;
    baseUrl;
    keys;
    /** The control interface of the simulator, in this world. */
    control;
    sandbox;
    /** The simulated production: `world.production.call(...)`. */
    production;
    constructor(url, info) {
        this.url = url;
        const { sandbox, production } = info.credentials;
        this.id = info.id;
        this.baseUrl = sandbox.base_url;
        this.keys = { publicKey: sandbox.public_key, secretKey: sandbox.secret_key, webhookKey: sandbox.webhook_key };
        this.control = World.controlOf(url, { "X-Simulator-World": info.id });
        this.sandbox = service(sandbox.base_url, this.keys);
        this.production = service(production.base_url, { publicKey: production.public_key, secretKey: production.secret_key });
    }
    static controlOf(url, headers) {
        const token = process.env.SIMULATOR_CONTROL_TOKEN;
        return new Calls(url, () => (token ? { ...headers, Authorization: `Bearer ${token}` } : headers));
    }
    /** A new world of the simulator at SIMULATOR_URL, else http://127.0.0.1:8642: manual clock, nothing happens by itself. */
    static async create(options = {}) {
        const url = originOf(process.env.SIMULATOR_URL ?? "http://127.0.0.1:8642");
        const body = { scenarios: [], ...options };
        return new World(url, await World.controlOf(url, {}).call("post", "/_simulator/worlds", { body }));
    }
    /** A call of the interface with the keys of this world: `world.call("post", "/quotes", { body })`. */
    get call() {
        return this.sandbox.call.bind(this.sandbox);
    }
    /** Calls with another key pair, such as one that `create_key` has made. */
    signIn(keys) {
        refuseLiveKeys(keys);
        return service(this.baseUrl, keys);
    }
    /** What the outside world does: `act("payment_arrives", onramp)`. */
    act(action, target, parameters = {}) {
        const body = target === undefined ? parameters : { target: idOf(target), ...parameters };
        return this.control.call("post", "/_simulator/actions/{action}", { path: { action }, body });
    }
    /** Let simulated time pass: "31m", "3d"; webhooks that fall due are delivered before this returns. */
    advance(by) {
        return this.control.call("post", "/_simulator/clock/advance", { body: { by } });
    }
    until(goal, status) {
        const until = (status === undefined ? goal : { resource: idOf(goal), status });
        return this.control.call("post", "/_simulator/clock/advance", { body: { until } });
    }
    /** What goes wrong on the wire, as `POST /_simulator/faults` takes it; gives the function that takes it away again. */
    async fault(fault) {
        const { id } = await this.control.call("post", "/_simulator/faults", { body: fault });
        return async () => void (await this.control.call("delete", "/_simulator/faults/{id}", { path: { id } }));
    }
    /** Make exactly these scenarios active; none: nothing happens by itself. */
    scenario(...names) {
        return this.control.call("put", "/_simulator/scenarios/active", { body: { names } });
    }
    /** Go all the way to an event, by calls and actions. */
    trigger(event, target) {
        const body = (target === undefined ? { event } : { event, target: idOf(target) });
        return this.control.call("post", "/_simulator/trigger", { body });
    }
    /** Wait until no webhook is under way. */
    async settle() {
        await this.control.call("post", "/_simulator/settle");
    }
    /** Findings about the conduct of what was tested in this world. */
    async advice() {
        return (await this.control.call("get", "/_simulator/advice")).data;
    }
    /** The page on which a person sees what happened in this world. */
    get dashboard() {
        return `${this.url}/_simulator/dashboard?world=${encodeURIComponent(this.id)}`;
    }
    async end() {
        await this.control.call("delete", "/_simulator/worlds/{id}", { path: { id: this.id } });
    }
}
