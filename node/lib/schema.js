"use strict";
// Schemas of tools: JSON Schema as it is, and schemas of libraries such as Zod.

const { ToolError } = require("./errors.js");

/**
 * Reads a schema: its JSON Schema, and for one of a library also how arguments are parsed with it, which gives defaults
 * and transforms their effect.
 */
function schemaOf(schema, direction) {
  if (schema === null || typeof schema !== "object" || !("~standard" in schema)) {
    if (schema === null || typeof schema !== "object") {
      throw new TypeError("a schema is a JSON Schema, or one of a library with Standard Schema such as Zod");
    }
    return { json: schema };
  }
  const standard = schema["~standard"];
  return {
    json: jsonSchemaOf(schema, standard, direction),
    parse: async (value) => parsed(await standard.validate(value)),
    parseSync: (value) => {
      const result = standard.validate(value);
      if (result instanceof Promise) throw new TypeError("this schema validates asynchronously; use `run`");
      return parsed(result);
    },
  };
}

function jsonSchemaOf(schema, standard, direction) {
  // Standard JSON Schema, which Zod, ArkType and Valibot have.
  const convert = standard.jsonSchema?.[direction];
  const made = convert?.({ target: "draft-2020-12" }) ?? schema.toJSONSchema?.({ io: direction });
  if (made === undefined) {
    throw new TypeError(`schemas of ${standard.vendor} have no JSON Schema here; pass a JSON Schema`);
  }
  return made;
}

function parsed(result) {
  if (!result.issues) return result.value;
  const told = result.issues.map((issue) => {
    const path = issue.path?.map((part) => (typeof part === "object" ? part.key : part)).join(".");
    return path ? `${path}: ${issue.message}` : issue.message;
  });
  throw new ToolError(told.join("; "), { isMistake: true });
}

module.exports = { schemaOf };
