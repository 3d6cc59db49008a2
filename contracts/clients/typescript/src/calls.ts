// Typed calls: a path of a contract, its method, and what they take and answer.
import { refuseLiveKeys, take } from "./safety.js";

export type Method = "get" | "post" | "put" | "patch" | "delete";
export type PathOf<Paths, M extends Method> = { [P in keyof Paths]: Paths[P] extends Record<M, object> ? P : never }[keyof Paths] & string;
type At<Paths, P extends keyof Paths, M extends Method> = Paths[P] extends Record<M, infer O> ? O : never;
type Json<T> = T extends { content: { "application/json": infer A } } ? A : T extends { content: object } ? string : undefined;
export type BodyOf<O> = O extends { requestBody?: infer B } ? Exclude<Json<B>, undefined | string> : never;
export type AnswerOf<O> = O extends { responses: infer R } ? { [S in keyof R]: S extends 200 | 201 | 202 | 204 ? Json<R[S]> : never }[keyof R] : never;
export type Given<O> = {
  /** What stands in the path's braces. */
  path?: Record<string, string>;
  query?: Record<string, string | number | boolean | undefined>;
  headers?: Record<string, string>;
  body?: BodyOf<O>;
};

/** A call was refused: `status`, and the `code`, `message` and `param` of the answer's `error`. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly error: { code?: string; message?: string; param?: string; allowed?: string[] },
    readonly headers: Headers,
    what: string,
  ) {
    super(`${what} was refused: ${status} ${error.code ?? ""} ${error.message ?? ""}`.trim());
    this.name = "Refused";
  }

  get code(): string {
    return this.error.code ?? "";
  }
}

/** The calls of one contract at one address. */
export class Calls<Paths> {
  constructor(
    readonly base: string,
    private readonly headers: () => Promise<Record<string, string>> | Record<string, string>,
    private readonly renew: () => void = () => {},
  ) {}

  /** The answer to a call; Refused when its status is none of success. */
  async call<M extends Method, P extends PathOf<Paths, M>>(
    method: M,
    path: P,
    given: Given<At<Paths, P, M>> = {},
  ): Promise<AnswerOf<At<Paths, P, M>>> {
    refuseLiveKeys(given);
    let response = await this.send(method, path, given);
    if (response.status === 401) {
      this.renew(); // a token lives for an hour of simulated time
      response = await this.send(method, path, given);
    }
    const text = take(await response.text());
    const isJson = (response.headers.get("content-type") ?? "").includes("json");
    const answer = isJson && text ? JSON.parse(text) : text || undefined;
    if (response.ok) return answer;
    throw new Refused(response.status, answer?.error ?? { message: text }, response.headers, `${method.toUpperCase()} ${path}`);
  }

  private async send(method: string, path: string, given: Given<unknown>): Promise<Response> {
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(given.path?.[name] ?? `{${name}}`));
    const url = new URL(this.base + filled);
    for (const [name, value] of Object.entries(given.query ?? {})) if (value !== undefined) url.searchParams.set(name, String(value));
    const headers: Record<string, string> = { ...(await this.headers()), ...given.headers };
    if (given.body !== undefined) headers["Content-Type"] = "application/json";
    const body = given.body === undefined ? undefined : JSON.stringify(given.body);
    try {
      return await fetch(url, { method: method.toUpperCase(), headers, body, redirect: "manual" });
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
      throw new Error(`No simulator answers at ${url.origin} (${cause}). Start one with \`rampsim serve\`, or name another by SIMULATOR_URL.`);
    }
  }
}
