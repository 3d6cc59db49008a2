// Compiles the schemas of events with ajv as it comes, and judges envelopes by them: `node events.mjs <directory>`,
// with a list of envelopes as JSON on its input. Whatever ajv warns of counts as an error.
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const Ajv2020 = createRequire(join(process.cwd(), "package.json"))("ajv/dist/2020").default;
const ajv = new Ajv2020();
const warnings = [];
console.warn = (text) => warnings.push(text);
const directory = process.argv[2];
const judges = {};
for (const file of readdirSync(directory).filter((name) => name.endsWith(".schema.json"))) {
  const schema = JSON.parse(readFileSync(join(directory, file), "utf8"));
  judges[file.replace(".schema.json", "")] = ajv.compile(schema);
}
const wrong = [];
for (const envelope of JSON.parse(readFileSync(0, "utf8"))) {
  const judge = judges[envelope.type];
  if (!judge(envelope)) wrong.push({ type: envelope.type, id: envelope.id, errors: judge.errors });
}
process.stdout.write(JSON.stringify({ compiled: Object.keys(judges), warnings, wrong }));
