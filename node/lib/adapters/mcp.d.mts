import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { McpServer, RegisteredTool } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { Limits, Prelude, Tool, Tools } from "../index.js";

/** Lists the tools of a connected client, as tools of programs. */
export function clientTools(client: Client): Promise<Tool[]>;

export interface ServerToolOptions {
  /** Name of the tool. Default: `run_program`. */
  name?: string;
  limits?: Limits;
  preludes?: readonly Prelude[];
  /** Maximum number of characters of a result. Default: 20,000. */
  most?: number;
}

/** Gives a server a tool that runs programs over these tools. */
export function registerProgramTool(server: McpServer, tools: Tools, options?: ServerToolOptions): RegisteredTool;
