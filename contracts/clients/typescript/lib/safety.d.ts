/** An answer of the simulator; live keys in it are those of its simulated production, and may be used. */
export declare function take(answer: string): string;
/** Error when a live key stands anywhere in what is given to a call, unless the simulator has made it. */
export declare function refuseLiveKeys(given: unknown): void;
/** An address without the slash at its end; Error unless it is of this machine, or of a host that is allowed. */
export declare function originOf(address: string): string;
