"use strict";
// The extension with an editor that is made up: what it starts, and what it does if that fails.

const { test } = require("node:test");
const assert = require("node:assert");
const Module = require("node:module");

const settings = { preludes: ["crm.clj", 7, "ptc:paged"], command: "/opt/ptc" };
const shown = [];
const started = [];
let fails = false;
const subscription = { dispose() {} };
const handlers = {};
const vscode = {
  workspace: {
    getConfiguration: () => ({ get: (name, other) => settings[name] ?? other }),
    workspaceFolders: [{ uri: { fsPath: "/project" } }],
    createFileSystemWatcher: (pattern) => pattern,
    onDidChangeConfiguration: (handler) => ((handlers.changed = handler), subscription),
  },
  window: { showErrorMessage: (text) => shown.push(text) },
  commands: { registerCommand: (name, handler) => ((handlers[name] = handler), subscription) },
};
class LanguageClient {
  constructor(id, name, server, options) {
    started.push({ server, options });
  }
  async start() {
    if (fails) throw new Error("ENOENT");
  }
  async stop() {
    started.push("stopped");
  }
}
const load = Module._load;
Module._load = (name, ...rest) =>
  ({ vscode, "vscode-languageclient/node": { LanguageClient } })[name] ?? load(name, ...rest);

const extension = require("../extension.js");

test("starts the command with the preludes of the settings", async () => {
  const context = { subscriptions: [] };
  await extension.activate(context);
  assert.deepEqual(started[0].server, {
    command: "/opt/ptc",
    args: ["lsp", "--prelude", "crm.clj", "--prelude", "ptc:paged"],
    options: { cwd: "/project" },
  });
  assert.deepEqual(started[0].options.documentSelector, [{ language: "ptc-lisp" }]);
  assert.equal(context.subscriptions.length, 2);
});

test("restarts when the settings change, and says what to do if that fails", async () => {
  fails = true;
  await handlers.changed({ affectsConfiguration: (part) => part === "ptc" });
  assert.equal(started[1], "stopped");
  assert.match(shown[0], /Cannot start `\/opt\/ptc lsp`: ENOENT\..*"ptc\.command"/);
  await extension.deactivate();
});
