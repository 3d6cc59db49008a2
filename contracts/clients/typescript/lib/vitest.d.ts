import { Webhooks } from "./webhooks.js";
import { World, type WorldOptions } from "./world.js";
export type Fixtures = {
    /** What a world begins with, as `POST /_simulator/worlds` takes it: `test.extend({ begin: { seed: 7 } })`. */
    begin: WorldOptions;
    /** A world of this test alone. It ends with the test, or stays to be looked at when that fails. */
    world: World;
    /** A receiver in this process, registered in `world` for all events when a test asks for it. */
    webhooks: Webhooks;
};
export declare const test: import("vitest").TestAPI<{
    begin: Partial<{
        id?: string | null;
        from_snapshot?: string | null;
        seed?: number | null;
        clock?: import("../types/control.js").components["schemas"]["ClockBody"] | null;
        scenarios?: (string | Record<string, never>)[] | null;
        settings?: import("../types/control.js").components["schemas"]["Settings"] | null;
        observed?: Record<string, never> | Record<string, never>[] | null;
        replace?: boolean;
    }>;
    world: World;
    webhooks: Webhooks;
}>;
