// PTC and the MCP TypeScript SDK: tools of a connected client for programs, and a server's tool that runs programs.
import { z } from "zod";
import ptc from "../index.js";
import program from "./program.js";

const { Tool, ToolError } = ptc;
const { NAME, answer, describe } = program;

/** Lists the tools of a connected client, as tools of programs: `run(program, { tools: await clientTools(client) })`. */
export async function clientTools(client) {
  const tools = [];
  let cursor;
  do {
    const page = await client.listTools(cursor === undefined ? undefined : { cursor });
    tools.push(...page.tools.map((tool) => toolOf(client, tool)));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return tools;
}

/** Gives an `McpServer` a tool that runs programs over these tools. */
export function registerProgramTool(server, tools, { name = NAME, ...options } = {}) {
  const about = {
    description: describe(tools, options),
    inputSchema: { program: z.string().describe("A PTC-Lisp program.") },
  };
  return server.registerTool(name, about, async ({ program }, { signal }) => {
    const { text, isError } = await answer(program, tools, { ...options, signal });
    return { content: [{ type: "text", text }], isError };
  });
}

function toolOf(client, tool) {
  return new Tool({
    name: tool.name,
    description: tool.description,
    takes: tool.inputSchema,
    answers: tool.outputSchema,
    effect: tool.annotations?.readOnlyHint ? "read" : undefined,
    call: async (args, { signal }) => {
      const result = await client.callTool({ name: tool.name, arguments: args }, undefined, { signal });
      const texts = result.content.filter((part) => part.type === "text").map((part) => part.text);
      if (result.isError) throw new ToolError(texts.join("\n") || "the tool failed");
      if (result.structuredContent !== undefined) return result.structuredContent;
      return texts.length === 1 ? texts[0] : texts;
    },
  });
}
