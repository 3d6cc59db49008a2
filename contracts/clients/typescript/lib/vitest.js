// Fixtures for Vitest: `import { test } from "rampsim-client/vitest"`, and every test has a simulated service of its own.
import { basename } from "node:path";
import { test as base } from "vitest";
import { Webhooks } from "./webhooks.js";
import { World } from "./world.js";
/** The test's own name, so that one finds its world; the same again when it is run again. */
function idOf(task) {
    const words = [basename(task.file.name).replace(/\.(test|spec)\.\w+$/, ""), task.suite?.name ?? "", task.name].join(" ");
    let hash = 0;
    for (const letter of task.file.name + words)
        hash = (Math.imul(hash, 31) + letter.charCodeAt(0)) >>> 0;
    return `${words.trim().replace(/[^A-Za-z0-9]+/g, "-").slice(0, 55)}-${hash.toString(36)}`;
}
export const test = base.extend({
    begin: {},
    world: async ({ task, begin }, use) => {
        const world = await World.create({ id: idOf(task), replace: true, ...begin });
        await use(world);
        if (task.result?.state === "fail")
            console.error(`What happened in the world of "${task.name}": ${world.dashboard}`);
        else
            await world.end();
    },
    webhooks: async ({ world }, use) => {
        const webhooks = await Webhooks.open(world);
        await use(webhooks);
        await webhooks.close();
    },
});
