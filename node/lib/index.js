"use strict";
// Runs PTC-Lisp programs, mostly written by language models, in a sandbox.

const native = require("./native.js");
const { Agent, AgentError, Request, Step } = require("./agent.js");
const { Batch, BatchResult, batch } = require("./batch.js");
const errors = require("./errors.js");
const { Frozen, freeze } = require("./grants.js");
const { Outcome } = require("./outcome.js");
const { Prelude, publicKey } = require("./prelude.js");
const { Program, card, check, execute, executeSync, run, runSync } = require("./program.js");
const { Call, Run } = require("./run.js");
const { Servers } = require("./servers.js");
const { Session } = require("./session.js");
const { Tool, tool } = require("./tools.js");

module.exports = {
  Agent,
  AgentError,
  Batch,
  BatchResult,
  Call,
  Cancelled: errors.Cancelled,
  CompileError: errors.CompileError,
  Diagnostic: errors.Diagnostic,
  Frozen,
  LimitError: errors.LimitError,
  Outcome,
  Prelude,
  Program,
  ProgramFailed: errors.ProgramFailed,
  PtcError: errors.PtcError,
  Request,
  Run,
  RunError: errors.RunError,
  Servers,
  Session,
  SnapshotError: errors.SnapshotError,
  Step,
  Tool,
  ToolError: errors.ToolError,
  ToolFailed: errors.ToolFailed,
  batch,
  card,
  check,
  defaultLimits: native.defaultLimits,
  execute,
  executeSync,
  freeze,
  publicKey,
  run,
  runSync,
  tool,
  version: native.version(),
};
