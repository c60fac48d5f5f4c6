import type { Tool, ToolSet } from "ai";
import type { Limits, Prelude } from "../index.js";

/** Options of the tool that runs programs. */
export interface ProgramToolOptions {
  limits?: Limits;
  preludes?: readonly Prelude[];
  /** Maximum number of characters of a result. Default: 20,000. */
  most?: number;
}

export interface CodeModeOptions extends ProgramToolOptions {
  /** Name of the tool that runs programs. Default: `run_program`. */
  name?: string;
  /** Tells which tools stay as they are. */
  keep?: (name: string, tool: Tool<any, any, any>) => boolean;
}

/**
 * Replaces tools by one that runs programs over them. Tools that need approval or are carried out elsewhere stay as
 * they are.
 */
export function codeMode(tools: ToolSet, options?: CodeModeOptions): ToolSet;

/** Makes the tool that runs programs over other tools. */
export function programTool(tools: ToolSet, options?: ProgramToolOptions): Tool<{ program: string }, string>;
