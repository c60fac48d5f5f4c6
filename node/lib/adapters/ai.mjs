// Code mode for the Vercel AI SDK: gives the tools of an agent to programs.
//
//     generateText({ model, tools: codeMode({ findOrders, findParcel }), prompt })
//
// The model sees one tool, `run_program`, whose description is the reference of the language and of the tools.
import { asSchema, jsonSchema, tool } from "ai";
import ptc from "../index.js";
import program from "./program.js";

const { Tool, ToolError } = ptc;
const { ARGUMENTS, NAME, answer, describe } = program;

/**
 * Replaces tools by one that runs programs over them. Tools that need approval or are carried out elsewhere stay as
 * they are, and so do those that `keep` names.
 */
export function codeMode(tools, { keep = () => false, name = NAME, ...options } = {}) {
  const kept = Object.entries(tools).filter(([name, tool]) => !isGiven(tool) || keep(name, tool));
  const given = Object.entries(tools).filter(([name, tool]) => isGiven(tool) && !keep(name, tool));
  return { [name]: programTool(Object.fromEntries(given), options), ...Object.fromEntries(kept) };
}

/** Makes the tool that runs programs over other tools. */
export function programTool(tools, options = {}) {
  const made = (call) => Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, toolOf(tool, call)]));
  return tool({
    description: describe(made({}), options),
    inputSchema: jsonSchema(ARGUMENTS),
    execute: async ({ program }, call) => {
      const { text } = await answer(program, made(call), { ...options, signal: call.abortSignal });
      return text;
    },
  });
}

function isGiven(tool) {
  return typeof tool.execute === "function" && tool.type !== "provider" && !tool.needsApproval;
}

/** Makes a tool of a program. `call` is what the SDK passes with the call of the program. */
function toolOf(tool, call) {
  const schema = asSchema(tool.inputSchema);
  return new Tool({
    description: typeof tool.description === "string" ? tool.description : undefined,
    takes: schema.jsonSchema,
    answers: tool.outputSchema && asSchema(tool.outputSchema).jsonSchema,
    call: async (args, { signal }) => {
      const input = await valid(schema, args);
      return last(await tool.execute(input, { ...call, abortSignal: signal }));
    },
  });
}

async function valid(schema, args) {
  const checked = schema.validate ? await schema.validate(args) : { success: true, value: args };
  if (checked.success) return checked.value;
  throw new ToolError(checked.error.message, { isMistake: true });
}

/** A tool may give preliminary results; the last one counts. */
async function last(result) {
  if (typeof result?.[Symbol.asyncIterator] !== "function") return result;
  let value;
  for await (value of result);
  return value;
}
