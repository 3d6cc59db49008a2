export type Method = "get" | "post" | "put" | "patch" | "delete";
export type PathOf<Paths, M extends Method> = {
    [P in keyof Paths]: Paths[P] extends Record<M, object> ? P : never;
}[keyof Paths] & string;
type At<Paths, P extends keyof Paths, M extends Method> = Paths[P] extends Record<M, infer O> ? O : never;
type Json<T> = T extends {
    content: {
        "application/json": infer A;
    };
} ? A : T extends {
    content: object;
} ? string : undefined;
export type BodyOf<O> = O extends {
    requestBody?: infer B;
} ? Exclude<Json<B>, undefined | string> : never;
export type AnswerOf<O> = O extends {
    responses: infer R;
} ? {
    [S in keyof R]: S extends 200 | 201 | 202 | 204 ? Json<R[S]> : never;
}[keyof R] : never;
export type Given<O> = {
    /** What stands in the path's braces. */
    path?: Record<string, string>;
    query?: Record<string, string | number | boolean | undefined>;
    headers?: Record<string, string>;
    body?: BodyOf<O>;
};
/** A call was refused: `status`, and the `code`, `message` and `param` of the answer's `error`. */
export declare class Refused extends Error {
    readonly status: number;
    readonly error: {
        code?: string;
        message?: string;
        param?: string;
        allowed?: string[];
    };
    readonly headers: Headers;
    constructor(status: number, error: {
        code?: string;
        message?: string;
        param?: string;
        allowed?: string[];
    }, headers: Headers, what: string);
    get code(): string;
}
/** The calls of one contract at one address. */
export declare class Calls<Paths> {
    readonly base: string;
    private readonly headers;
    private readonly renew;
    constructor(base: string, headers: () => Promise<Record<string, string>> | Record<string, string>, renew?: () => void);
    /** The answer to a call; Refused when its status is none of success. */
    call<M extends Method, P extends PathOf<Paths, M>>(method: M, path: P, given?: Given<At<Paths, P, M>>): Promise<AnswerOf<At<Paths, P, M>>>;
    private send;
}
export {};
