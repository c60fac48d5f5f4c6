/** Runs PTC-Lisp programs, mostly written by language models, in a sandbox. */

/** Version of the package. */
export const version: string;

// Programs

/** A value that programs take: exactly, or not at all. */
export type Data = unknown;

/** Limits by the names of the reference, such as `fuel`, `memory_bytes` and `timeout_ms`. */
export type Limits = Readonly<Record<string, number>>;

/** What engines are made of: the options of programs, sessions and runs. */
export interface EngineOptions {
  /** Functions that programs call: `{ price: ({ of }) => 3 }` is `(tool/price {:of "tea"})`. */
  tools?: Tools;
  limits?: Limits;
  /** Libraries that programs call like builtins. */
  preludes?: readonly Prelude[];
  /** Running MCP and OpenAPI servers, which programs call with `(tool/call {...})`. */
  servers?: Servers;
}

export interface CallOptions {
  /** Ends the program when it is aborted. */
  signal?: AbortSignal;
}

export interface RunOptions extends EngineOptions, CallOptions {
  /** What the program reads: the member `orders` is `data/orders`. */
  data?: object;
}

export interface ProgramOptions extends EngineOptions {
  /** Data that is read once, and granted to every call. */
  data?: object;
  /** Public keys, one per line: preludes must be signed with one of them. */
  trusted?: string;
}

/**
 * Runs a program and returns its value as plain JavaScript, without blocking the event loop. Tools that return promises
 * run concurrently under `pmap`.
 *
 * Keywords and symbols become strings, vectors arrays, and points in time `Date`s. A map is an object, or a `Map` if it
 * has keys that are no strings; a set is a `Set`. Integers that a number cannot hold are bigints; days are texts such as
 * `2031-04-03`, and durations milliseconds.
 */
export function run(program: string, options?: RunOptions): Promise<any>;
/** Runs a program on this thread, with tools that return no promises. */
export function runSync(program: string, options?: RunOptions): any;
/** Runs a program as `run` does, and returns its outcome: value, prints, fuel and warnings. */
export function execute(program: string, options?: RunOptions): Promise<Outcome>;
/** Runs a program as `runSync` does, and returns its outcome. */
export function executeSync(program: string, options?: RunOptions): Outcome;
/** Checks a program without running it. Without `tools`, any tool may be named. */
export function check(program: string, options?: Omit<RunOptions, "servers" | "signal">): Diagnostic[];
/** Returns the reference card of the language for a prompt, with the tools, preludes and data that a program has. */
export function card(options?: { tools?: Tools; preludes?: readonly Prelude[]; data?: object }): string;
/** Returns every limit with its default. */
export function defaultLimits(): Record<string, number>;
/** Reads data once, to be granted to many programs: `run(program, { data: { rows: freeze(rows) } })`. */
export function freeze(value: Data): Frozen;

/** A compiled program: call it any number of times. Without `tools`, it may name any tool: see `start`. */
export class Program {
  constructor(source: string, options?: ProgramOptions);
  /** Compiles without blocking the event loop. */
  static compile(source: string, options?: ProgramOptions): Promise<Program>;
  /** Text of the program. */
  readonly source: string;
  /** Warnings about the text. An `Outcome` includes them. */
  get warnings(): Diagnostic[];
  /** Runs the program and returns its value. */
  call(data?: object, options?: CallOptions): Promise<any>;
  callSync(data?: object, options?: CallOptions): any;
  /** Runs the program and returns its outcome. */
  execute(data?: object, options?: CallOptions): Promise<Outcome>;
  executeSync(data?: object, options?: CallOptions): Outcome;
  /** Makes a run before its first step, for hosts that answer its calls themselves or save it. */
  start(data?: object, options?: CallOptions): Run;
  /** Runs the program once, and returns a function that it defines. */
  function(name: string): PtcFunction;
  /** Makes a batch that runs the program over many records. */
  batch(options?: BatchOptions): Batch;
}

/** A function that a program defines. Each call is a run of its own, with a full budget. */
export interface PtcFunction {
  (...args: Data[]): Promise<any>;
  /** Calls it on this thread. */
  sync(...args: Data[]): any;
}

/** Programs that see each other's definitions. A program that fails changes nothing. */
export class Session {
  constructor(options?: ProgramOptions);
  run(source: string, options?: CallOptions): Promise<any>;
  runSync(source: string, options?: CallOptions): any;
  execute(source: string, options?: CallOptions): Promise<Outcome>;
  executeSync(source: string, options?: CallOptions): Outcome;
  /** Grants more data to the programs from now on. */
  grant(data: object): void;
  /** Returns a function of the session as it is now. */
  function(name: string): PtcFunction;
  /** Returns an independent session with the same definitions. */
  copy(): Session;
  /** Returns a session with the same definitions and data, and other tools and limits. */
  withTools(tools: Tools, options?: { limits?: Limits }): Session;
  /** Names defined so far, sorted. */
  get names(): string[];
  has(name: string): boolean;
  /** Value of a definition; `undefined` if there is none. */
  get(name: string): any;
}

/** A program that ended well: its value, and the facts of its run. */
export class Outcome {
  private constructor();
  /** Value of the program as plain JavaScript; made anew by every access. */
  get value(): any;
  /** Value of the program as PTC-Lisp prints it. */
  get text(): string;
  /** Returns the value as JSON text. */
  json(): string;
  /** Printed lines. */
  get prints(): string[];
  /** Work of the run in units of fuel, the same on every machine. */
  get fuel(): number;
  /** Work of compiling the program, in units of its own. */
  get compileFuel(): number;
  /** Number of tool calls that were made. */
  get toolCalls(): number;
  /** Warnings that did not keep the program from giving its value. */
  get warnings(): Diagnostic[];
}

/** Data that was read once, and that any number of programs read without a copy. */
export class Frozen {
  private constructor();
  /** Size in memory, in bytes. */
  get bytes(): number;
  /** Returns the data as plain JavaScript. */
  thaw(): any;
}

// Runs

/** A tool call that waits for a result. */
export class Call {
  private constructor();
  /** Id of the call in its run. It stays the same when the run is saved and loaded. */
  readonly id: string;
  /** Name of the tool. */
  readonly name: string;
  /** Function of a prelude that makes the call, as `ns/name`; `undefined` for the program itself. */
  readonly origin: string | undefined;
  /** Arguments of the call, by name. */
  get args(): Record<string, any>;
}

/** A program under way. It suspends at tool calls, and can be saved as bytes until they have results. */
export class Run {
  private constructor();
  /**
   * Loads a run that `toBytes` wrote, perhaps in another process. `grants` is the data that the run was started with,
   * and `preludes` are its preludes. Damaged or forged bytes are refused with a `SnapshotError`.
   */
  static fromBytes(bytes: Uint8Array, options?: EngineOptions & CallOptions & { grants?: object }): Run;
  /**
   * Computes until the program ends or everything in it waits for tools, and returns the calls that wait. An empty
   * array means that the run has ended: `outcome` is its result.
   */
  step(): Call[];
  /** Calls that wait for results. */
  get calls(): Call[];
  /** Supplies the result of a call that waits; `step` or `finish` then continues. */
  answer(call: Call | string, value: Data): void;
  /** Makes a call that waits fail with an error or a message, which the program may catch. */
  fail(call: Call | string, error: unknown): void;
  /** Runs to the end, calling tools. */
  finish(): Promise<Outcome>;
  /** Runs to the end on this thread, calling tools that return no promises. */
  finishSync(): Outcome;
  /** True once the run has ended. */
  get done(): boolean;
  /** Result of a run that has ended; throws its error if it failed. */
  get outcome(): Outcome;
  /** Fuel spent so far. */
  get fuel(): number;
  /** Writes the run to bytes, to continue it later or in another process. */
  toBytes(): Buffer;
  /** Ends the run: what computes it fails with `Cancelled`. */
  cancel(): void;
}

// Tools

/** Second argument of a tool. */
export interface ToolContext {
  /** Aborted once nobody waits for the call. */
  readonly signal: AbortSignal;
}

export type ToolFunction<Args = any> = (args: Args, context: ToolContext) => unknown;

/** A JSON Schema. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** A schema of a library with Standard Schema, such as Zod. */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: number;
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

export interface ToolOptions<Args = any> {
  /** Name of the tool, which tools in an array need. */
  name?: string;
  /** The function: it gets one object of arguments. */
  call: ToolFunction<Args>;
  /** Description for models. */
  description?: string;
  /** Schema of the arguments. A program that does not fit it is refused before it runs. */
  takes?: JsonSchema | StandardSchema<Args>;
  /** Schema of the result. */
  answers?: JsonSchema | StandardSchema;
  effect?: "read" | "write";
  /** True if only preludes may call it. */
  private?: boolean;
}

/** A function that programs call as `(tool/<name> {...})`, with all that is known about it. */
export class Tool<Args = any> {
  constructor(options: ToolOptions<Args>);
  readonly name: string | undefined;
  readonly call: ToolFunction<any>;
  readonly description: string | undefined;
  readonly takes: JsonSchema | undefined;
  readonly answers: JsonSchema | undefined;
  readonly effect: "read" | "write" | undefined;
  readonly private: boolean;
}

/** Makes a tool of a function and what is known about it. */
export function tool<Args>(options: ToolOptions<Args> & { takes: StandardSchema<Args> }): Tool<Args>;
export function tool(options: ToolOptions): Tool;

/** What programs may call: functions or tools by name, or tools that have names. */
export type Tools =
  | Readonly<Record<string, ToolFunction | Tool | ToolOptions>>
  | ReadonlyMap<string, ToolFunction | Tool | ToolOptions>
  | readonly (Tool | (ToolOptions & { name: string }))[];

// Preludes and servers

/** A library that programs call like builtins: compiled from source, or loaded from a `.ptcp` file. */
export class Prelude {
  private constructor();
  /** Compiles a prelude from its source, which may require the namespaces of the preludes in `uses`. */
  static compile(source: string, options?: { uses?: readonly Prelude[] }): Prelude;
  /** Loads a `.ptcp` file. With `trusted` and no `signature`, the signature is the file beside it ending in `.sig`. */
  static load(path: string | URL, options?: LoadOptions): Prelude;
  /** Loads a prelude from the bytes of a `.ptcp` file, which is fully verified. */
  static fromBytes(bytes: Uint8Array, options?: LoadOptions): Prelude;
  /** Returns the bytes of a `.ptcp` file. */
  toBytes(): Buffer;
  /** Signs the bytes of the file with a private key of 64 hexadecimal digits, and returns the signature. */
  sign(key: string): string;
  /** Names of the namespaces it declares. */
  get namespaces(): string[];
  /** Names of what it exports, such as `crm/find`. */
  get exports(): string[];
  /** Hash of this build. */
  get hash(): string;
  /** Hash of what programs see of it: names, parameters and types. */
  get interfaceHash(): string;
  /** Part of a prompt that describes it to models; `undefined` if it exports nothing for them. */
  get inventory(): string | undefined;
}

export interface LoadOptions {
  signature?: string;
  /** Public keys, one per line: one of them must have made the signature. */
  trusted?: string;
  /** Hash of the only build to accept. */
  pin?: string;
  /** Compiles a file again that another version built. Default: true. */
  recompile?: boolean;
}

/** Returns the public key of a private key of 64 hexadecimal digits. */
export function publicKey(key: string): string;

/** Running MCP and OpenAPI servers that programs call with `(tool/call {...})`. */
export class Servers {
  private constructor();
  /** Starts the servers of a configuration: a file, or what such a file holds. With `freeze`, tools are listed now. */
  static start(options: { path?: string | URL; config?: object | string; freeze?: boolean }): Promise<Servers>;
  /** Stops all servers. */
  stop(): Promise<void>;
  /** Names of the servers. */
  get names(): string[];
  /** Starts and lists all servers now; returns one text for each server that failed. */
  load(): Promise<string[]>;
  /** Returns the part of a prompt that describes the servers and their tools. */
  describe(): string;
  /** Remarks about the configuration. */
  get warnings(): string[];
}

// Batches

export interface BatchOptions {
  /** Data that every record sees, beside its own. */
  data?: object;
  /** With `"null"`, a record that fails has no value; otherwise the first one ends the batch. Default: `"throw"`. */
  onError?: "throw" | "null";
  threads?: number;
}

/**
 * Runs a program over records, on all cores and without blocking the event loop. The program reads a record as
 * `data/row` and its members as `data/<member>`. Records arrive as JSON: dates are text.
 */
export function batch(
  program: string | Program,
  rows: Iterable<Data> | AsyncIterable<Data>,
  options?: BatchOptions & EngineOptions & CallOptions,
): Promise<BatchResult>;

/** A program to be run over many arrays of records. */
export class Batch {
  constructor(program: Program, options?: BatchOptions);
  run(rows: Iterable<Data> | AsyncIterable<Data>, options?: CallOptions): Promise<BatchResult>;
}

export class BatchResult implements Iterable<any> {
  private constructor();
  /** Values in the order of the records; `null` for one that failed. */
  readonly values: any[];
  /** Errors of records that have no value; `row` is the index of the record. */
  readonly failures: (PtcError & { row: number })[];
  /** Warnings about fields that the program reads but no record has. */
  readonly warnings: Diagnostic[];
  /** Time of the whole batch. */
  readonly seconds: number;
  [Symbol.iterator](): Iterator<any>;
}

// Agents

/** A model: a function from a request to the text of the reply, or an object with `content` and `tokens`. */
export type Model = (
  request: Request,
  context: { signal?: AbortSignal },
) => string | object | Promise<string | object>;

/** A request to a model. */
export class Request {
  private constructor();
  readonly system: string;
  readonly messages: readonly { role: string; content: string }[];
  readonly turn: number;
  readonly tools: readonly any[];
  /** The conversation in the form of most chat APIs. */
  get chat(): { role: string; content: string }[];
  readonly [field: string]: any;
}

export interface MissionOptions {
  /** A function, or the name of a model such as `anthropic:...`. */
  model?: Model | string;
  servers?: Servers;
  signal?: AbortSignal;
}

/** Something that happened in a mission. */
export type Event = { depth: number; agent?: string; turn?: number } & (
  | { kind: "turnBegan" | "textRestarted" | "other" }
  | { kind: "text" | "warning" | "feedback"; text: string }
  | { kind: "program"; program: string }
  | { kind: "toolCalled"; name: string; args: any }
  | { kind: "toolAnswered"; name: string; answer?: any; error?: string; isCached: boolean }
  | { kind: "printed"; lines: string[] }
  | { kind: "turnEnded"; isSuccess: boolean; result: string | null }
  | { kind: "omitted"; count: number }
  | { kind: "ended"; step: Step }
);

/** An agent: a mission in words, a signature that gives its result a type, and tools. */
export class Agent {
  /** Makes an agent from options with the names that agent files use, such as `signature` and `max_turns`. */
  constructor(prompt: string, options?: { tools?: Tools; signature?: string; [option: string]: unknown });
  /** Reads an agent from a TOML or JSON file. `tools` are added to those of the file. */
  static fromFile(path: string | URL, options?: { tools?: Tools }): Agent;
  /** Name of the agent, for traces. */
  get name(): string | undefined;
  /** Mission of the agent. */
  get prompt(): string;
  /** Types of the mission's data and result. */
  get signature(): string;
  /** Remarks about the definition. */
  get warnings(): string[];
  /** Works on the mission and returns its result; rejects with an `AgentError` if it failed. */
  run(data?: object, options?: MissionOptions): Promise<Step>;
  /** Works on the mission while its events are read. The last is of the kind `ended`, with the `step`. */
  stream(data?: object, options?: MissionOptions): AsyncGenerator<Event, void, void>;
}

/** Result of a mission. */
export class Step {
  private constructor();
  /** Value of the mission as plain JavaScript. */
  get value(): any;
  /** True if there is a value. */
  get ok(): boolean;
  /** Stable name of the reason of a failure. */
  get reason(): string | undefined;
  /** What went wrong. */
  get message(): string | undefined;
  /** Time, turns, tokens and cost. */
  get usage(): Record<string, any>;
  /** The turns, each with its request, program and result. */
  get turns(): Record<string, any>[];
  /** Returns everything about the mission as plain data. */
  toJSON(): Record<string, any>;
}

/** A mission that failed. */
export class AgentError extends Error {
  constructor(step: Step);
  /** All that is known about the mission. */
  readonly step: Step;
  readonly reason: string;
}

// Errors

/** A call of a program that had not returned when an error happened. */
export interface Frame {
  /** Name of the function, if it has one. */
  readonly function?: string;
  /** Library function that made the call for the program, such as `map`. */
  readonly by?: string;
  /** Index of the element that was processed, from 0. */
  readonly index?: number;
  /** Line of the call in the program, from 1. */
  readonly line?: number;
}

/** One error or warning about a program. */
export class Diagnostic {
  private constructor();
  /** Stable name of the kind of error, such as `unknown_field`. */
  readonly kind: string;
  /** Code of the kind, such as `E0211`: `ptc explain E0211` tells more. */
  readonly code: string;
  /** What is wrong. */
  readonly message: string;
  /** What to write instead, if that is known. */
  readonly hint: string | undefined;
  /** Line in the program, from 1; `undefined` if the error belongs to no place. */
  readonly line: number | undefined;
  /** Column in the line, from 1. */
  readonly column: number | undefined;
  /** Calls that led there, the innermost first. */
  readonly frames: readonly Frame[];
  readonly isWarning: boolean;
  /** The diagnostic as it is shown to models. */
  toString(): string;
}

/** A program that failed. Its `message` is written for the model that wrote the program. */
export class PtcError extends Error {
  constructor(text: string, parts?: Partial<Pick<PtcError, "cause" | "value" | "prints" | "source">>);
  /** Stable name of the kind of error, such as `unknown_field`. */
  get kind(): string;
  /** Code of the kind of error, such as `E0211`. */
  get code(): string;
  /** What is wrong, without its place and hint, which `message` includes. */
  get problem(): string;
  /** What to write instead, if that is known. */
  get hint(): string | undefined;
  /** Line in the program, from 1; `undefined` if the error belongs to no place. */
  get line(): number | undefined;
  /** Column in the line, from 1. */
  get column(): number | undefined;
  /** Calls that led there, the innermost first. */
  get frames(): readonly Frame[];
  /** Errors, the most useful first; several for a program that does not compile. */
  readonly diagnostics: readonly Diagnostic[];
  /** Warnings about the program besides its errors. */
  readonly warnings: readonly Diagnostic[];
  /** Lines printed before the failure. */
  readonly prints: readonly string[];
  /** Work until the failure, in units of fuel. */
  readonly fuel: number;
  /** Work of compiling the program. */
  readonly compileFuel: number;
  /** Value that the program gave to `(fail value)`. */
  readonly value: any;
  /** Text of the program. */
  readonly source: string;
}

/** A program that was refused before its first instruction: it does not compile, or reads data that is not there. */
export class CompileError extends PtcError {}
/** A program that failed while it ran. */
export class RunError extends PtcError {}
/** A program that did more than its limits allow. */
export class LimitError extends RunError {}
/** A program that was ended by an error of a tool: `cause` is what the tool threw. */
export class ToolFailed extends RunError {}
/** A program that ended itself with `(fail value)`: `value` is the value. */
export class ProgramFailed extends RunError {}
/** A program that was cancelled by its host: `cause` is the reason of the signal. */
export class Cancelled extends RunError {}
/** Bytes of a run that cannot be continued. */
export class SnapshotError extends PtcError {}

/** Throw this in a tool for a message without the name of the error's class. */
export class ToolError extends Error {
  /**
   * `hint` tells the program's author what to write instead. `isMistake` says that the program called the tool in a
   * wrong way: the message is then reported alone, as an error of the program.
   */
  constructor(message: string, options?: { hint?: string; isMistake?: boolean; cause?: unknown });
  readonly hint: string | undefined;
  readonly isMistake: boolean;
}
