// JSON Schemas as forms: the kind of input for a field, and the value of the entered string. No DOM, so Node can test it.

/** The schema without null, with references resolved by `resolve`. */
export function plain(schema, resolve = (reference) => ({ description: `see ${reference}` })) {
  if (schema.$ref) return { ...plain(resolve(schema.$ref), resolve), ...(schema.description ? { description: schema.description } : {}) };
  const parts = (schema.anyOf || schema.oneOf || []).filter((part) => part.type !== "null");
  if (parts.length !== 1) return schema;
  return { ...plain(parts[0], resolve), ...(schema.description ? { description: schema.description } : {}), ...("default" in schema ? { default: schema.default } : {}) };
}

const SCALARS = ["string", "boolean", "integer", "number"];

/**
 * The kind of input: choice, flag, integer, number, text, either (a string, number or boolean), list (of words), group (an object
 * with known fields), or json for all others.
 */
export function sortOf(schema) {
  if (schema.enum) return "choice";
  if (schema.anyOf?.every((part) => SCALARS.includes(part.type) || part.type === "null")) return "either";
  if (schema.type === "array" && schema.items?.type === "string") return "list";
  const type = Array.isArray(schema.type) ? schema.type.find((name) => name !== "null") : schema.type;
  if (type === "boolean") return "flag";
  if (type === "integer" || type === "number") return type;
  if (type === "object" && schema.properties) return "group";
  return type === "string" || "const" in schema ? "text" : "json";
}

/** The description of a value in `x-enum-descriptions`, which has an entry for each enum value except null. */
export const meaningOf = (schema, value) =>
  schema["x-enum-descriptions"]?.[schema.enum.filter((one) => one !== null).findIndex((one) => String(one) === String(value))];

/** Parse an entered string. Return undefined if it is empty. Throw a SyntaxError with the field's name if it is invalid. */
export function valueOf(schema, text, name = "it") {
  if (text === "" || text === undefined || text === null) return undefined;
  const sort = sortOf(schema);
  if (sort === "choice") return schema.enum.find((choice) => String(choice) === text) ?? text;
  if (sort === "text") return text;
  if (sort === "flag") return text === "true";
  if (sort === "list") return text.split(/[\s,]+/).filter(Boolean);
  if (sort === "either") return meant(schema.anyOf.map((part) => part.type), text);
  if (sort !== "json") {
    const number = Number(text);
    if (Number.isNaN(number)) throw new SyntaxError(`${name}: ${text} is not a number.`);
    return number;
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SyntaxError(`${name} is not valid JSON: ${error.message}`);
  }
}

function meant(types, text) {
  if (types.includes("boolean") && /^(true|false)$/.test(text)) return text === "true";
  const isNumber = (types.includes("number") || types.includes("integer")) && text.trim() !== "" && !Number.isNaN(Number(text));
  return isNumber ? Number(text) : text;
}

/** Convert form values, by dotted names such as "respond.status", to an object. Empty fields are omitted. */
export function objectOf(schema, texts, resolve, prefix = "") {
  const made = {};
  for (const [name, member] of Object.entries(schema.properties || {})) {
    const part = plain(member, resolve), path = prefix + name;
    const value = sortOf(part) === "group" ? objectOf(part, texts, resolve, `${path}.`) : valueOf(part, texts[path], path);
    if (value !== undefined && !(sortOf(part) === "group" && !Object.keys(value).length)) made[name] = value;
  }
  return made;
}
