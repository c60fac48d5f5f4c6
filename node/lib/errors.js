"use strict";
// Errors of programs, and the error that tools throw.

/** One error or warning about a program. */
class Diagnostic {
  #text;

  constructor(parts) {
    this.kind = parts.kind;
    this.code = parts.code;
    this.message = parts.message;
    this.hint = parts.hint;
    this.line = parts.line;
    this.column = parts.column;
    this.frames = parts.frames;
    this.isWarning = parts.isWarning;
    this.#text = parts.text;
  }

  /** The diagnostic as it is shown to models. */
  toString() {
    return this.#text;
  }
}

/** A program that failed. Its message is written for the model that wrote the program. */
class PtcError extends Error {
  constructor(text, parts = {}) {
    super(text, parts.cause === undefined ? undefined : { cause: parts.cause });
    this.diagnostics = parts.diagnostics ?? [];
    this.warnings = parts.warnings ?? [];
    this.prints = parts.prints ?? [];
    this.fuel = parts.fuel ?? 0;
    this.compileFuel = parts.compileFuel ?? 0;
    this.value = parts.value;
    this.source = parts.source ?? "";
  }

  get kind() {
    return this.diagnostics[0]?.kind ?? "internal_error";
  }

  get code() {
    return this.diagnostics[0]?.code ?? "";
  }

  /** What is wrong, without its place and hint, which `message` includes. */
  get problem() {
    return this.diagnostics[0]?.message ?? this.message;
  }

  get hint() {
    return this.diagnostics[0]?.hint;
  }

  get line() {
    return this.diagnostics[0]?.line;
  }

  get column() {
    return this.diagnostics[0]?.column;
  }

  get frames() {
    return this.diagnostics[0]?.frames ?? [];
  }
}

/** A program that was refused before its first instruction. */
class CompileError extends PtcError {}
/** A program that failed while it ran. */
class RunError extends PtcError {}
/** A program that did more than its limits allow. */
class LimitError extends RunError {}
/** A program that was ended by an error of a tool, which is its `cause`. */
class ToolFailed extends RunError {}
/** A program that ended itself with `(fail value)`. */
class ProgramFailed extends RunError {}
/** A program that was cancelled by its host. */
class Cancelled extends RunError {}
/** Bytes of a run that cannot be continued. */
class SnapshotError extends PtcError {}

const CLASSES = {
  CompileError,
  RunError,
  LimitError,
  ToolFailed,
  ProgramFailed,
  Cancelled,
  SnapshotError,
};
for (const [name, kind] of Object.entries({ PtcError, ...CLASSES })) {
  Object.defineProperty(kind.prototype, "name", { value: name, configurable: true, writable: true });
}

/** Throw this in a tool for a message without the name of the error's class. */
class ToolError extends Error {
  constructor(message, { hint, isMistake = false, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "ToolError";
    this.hint = hint;
    this.isMistake = isMistake;
  }
}

/** Returns what the native half gave, or throws the error that it tells of. */
function checked(result, causes) {
  if (result?.failure !== undefined && result.diagnostics !== undefined) throw errorOf(result, causes);
  return result;
}

/** Makes the error of a failure. `causes` are the errors of tools, by their numbers. */
function errorOf(parts, causes) {
  const { unpack } = require("./data.js");
  let value;
  try {
    value = parts.value === undefined ? undefined : unpack(parts.value);
  } catch {
    // Whatever the value is, the failure itself is what must be told.
  }
  return new (CLASSES[parts.failure] ?? PtcError)(parts.text, {
    ...parts,
    diagnostics: diagnosticsOf(parts.diagnostics),
    warnings: diagnosticsOf(parts.warnings),
    value,
    cause: parts.cause === undefined ? undefined : causes?.[parts.cause],
  });
}

function diagnosticsOf(list) {
  return list.map((parts) => new Diagnostic(parts));
}

module.exports = {
  ...CLASSES,
  Diagnostic,
  PtcError,
  ToolError,
  checked,
  diagnosticsOf,
  errorOf,
};
