// Fixtures for Vitest: `import { test } from "rampsim-client/vitest"`, and every test has a simulated service of its own.
import { basename } from "node:path";
import { test as base } from "vitest";
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

type Task = { name: string; file: { name: string }; suite?: { name: string }; result?: { state?: string } };

/** The test's own name, so that one finds its world; the same again when it is run again. */
function idOf(task: Task): string {
  const words = [basename(task.file.name).replace(/\.(test|spec)\.\w+$/, ""), task.suite?.name ?? "", task.name].join(" ");
  let hash = 0;
  for (const letter of task.file.name + words) hash = (Math.imul(hash, 31) + letter.charCodeAt(0)) >>> 0;
  return `${words.trim().replace(/[^A-Za-z0-9]+/g, "-").slice(0, 55)}-${hash.toString(36)}`;
}

export const test = base.extend<Fixtures>({
  begin: {},
  world: async ({ task, begin }, use) => {
    const world = await World.create({ id: idOf(task), replace: true, ...begin });
    await use(world);
    if (task.result?.state === "fail") console.error(`What happened in the world of "${task.name}": ${world.dashboard}`);
    else await world.end();
  },
  webhooks: async ({ world }, use) => {
    const webhooks = await Webhooks.open(world);
    await use(webhooks);
    await webhooks.close();
  },
});
