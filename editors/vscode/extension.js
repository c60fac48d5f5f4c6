"use strict";
// Starts `ptc lsp` and connects it with VS Code. There is no build step: this file runs as it is.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

/** What to start, from the settings of the workspace. */
function server() {
  const settings = vscode.workspace.getConfiguration("ptc");
  const preludes = settings.get("preludes", []).filter((prelude) => typeof prelude === "string");
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  return {
    command: settings.get("command", "ptc"),
    args: ["lsp", ...preludes.flatMap((prelude) => ["--prelude", prelude])],
    options: folder ? { cwd: folder } : {},
  };
}

async function start() {
  const options = {
    documentSelector: [{ language: "ptc-lisp" }],
    // A prelude that was saved may be used by others.
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.{clj,ptc,ptcp}") },
  };
  client = new LanguageClient("ptc", "PTC-Lisp", server(), options);
  try {
    await client.start();
  } catch (error) {
    const { command } = server();
    vscode.window.showErrorMessage(
      `Cannot start \`${command} lsp\`: ${error.message}. Install ptc, or set "ptc.command" to its path.`,
    );
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop().catch(() => {});
}

async function restart() {
  await stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("ptc.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("ptc") && restart()),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
