// The contract of the control interface. Forms get their fields, choices and descriptions from it. It is read once, on first use.
import { get } from "./api.js";
import { store, useEffect, useStore } from "./lib.js";

const contract = store(null);
let asked = null;

/** {schema(name), resolve(reference), events}, or null while the contract is loading. `events` is the schema of event types. */
export function useContract() {
  useEffect(() => {
    asked ||= get("/control.json").then((document) => contract.set(read(document)), () => { asked = null; });
  }, []);
  return useStore(contract);
}

function read(document) {
  const schemas = document.components.schemas, byName = (reference) => schemas[reference.split("/").at(-1)];
  const parameters = document.paths["/_simulator/events"].get.parameters;
  const { enum: types, "x-enum-descriptions": meanings } = parameters.find((one) => one.name === "type").schema;
  return { schema: (name) => schemas[name], resolve: byName, events: { enum: types, "x-enum-descriptions": meanings } };
}

/** A schema with changed fields: {name: {enum: [...]}}, or null to remove a field. */
export const withMembers = (schema, members) => ({
  ...schema,
  properties: Object.fromEntries(Object.entries(schema.properties).filter(([name]) => members[name] !== null).map(([name, member]) => [name, { ...member, ...members[name] }])),
});
