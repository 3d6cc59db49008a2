// Typed calls: a path of a contract, its method, and what they take and answer.
import { refuseLiveKeys, take } from "./safety.js";
/** A call was refused: `status`, and the `code`, `message` and `param` of the answer's `error`. */
export class Refused extends Error {
    status;
    error;
    headers;
    constructor(status, error, headers, what) {
        super(`${what} was refused: ${status} ${error.code ?? ""} ${error.message ?? ""}`.trim());
        this.status = status;
        this.error = error;
        this.headers = headers;
        this.name = "Refused";
    }
    get code() {
        return this.error.code ?? "";
    }
}
/** The calls of one contract at one address. */
export class Calls {
    base;
    headers;
    renew;
    constructor(base, headers, renew = () => { }) {
        this.base = base;
        this.headers = headers;
        this.renew = renew;
    }
    /** The answer to a call; Refused when its status is none of success. */
    async call(method, path, given = {}) {
        refuseLiveKeys(given);
        let response = await this.send(method, path, given);
        if (response.status === 401) {
            this.renew(); // a token lives for an hour of simulated time
            response = await this.send(method, path, given);
        }
        const text = take(await response.text());
        const isJson = (response.headers.get("content-type") ?? "").includes("json");
        const answer = isJson && text ? JSON.parse(text) : text || undefined;
        if (response.ok)
            return answer;
        throw new Refused(response.status, answer?.error ?? { message: text }, response.headers, `${method.toUpperCase()} ${path}`);
    }
    async send(method, path, given) {
        const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(given.path?.[name] ?? `{${name}}`));
        const url = new URL(this.base + filled);
        for (const [name, value] of Object.entries(given.query ?? {}))
            if (value !== undefined)
                url.searchParams.set(name, String(value));
        const headers = { ...(await this.headers()), ...given.headers };
        if (given.body !== undefined)
            headers["Content-Type"] = "application/json";
        const body = given.body === undefined ? undefined : JSON.stringify(given.body);
        try {
            return await fetch(url, { method: method.toUpperCase(), headers, body, redirect: "manual" });
        }
        catch (error) {
            const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
            throw new Error(`No simulator answers at ${url.origin} (${cause}). Start one with \`rampsim serve\`, or name another by SIMULATOR_URL.`);
        }
    }
}
