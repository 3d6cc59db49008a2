/** An answer of the simulator; live keys in it are those of its simulated production, and may be used. */
export declare function take(answer: string): string;
/** Error when a live key stands anywhere in what is given to a call, unless the simulator has made it. */
export declare function refuseLiveKeys(given: unknown): void;
/** The origin of an address; Error unless it is of this machine, or named by SIMULATOR_ALLOW_HOSTS. */
export declare function originOf(address: string): string;
