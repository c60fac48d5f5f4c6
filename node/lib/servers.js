"use strict";
// MCP and OpenAPI servers as tools of programs.

const { fileURLToPath } = require("node:url");
const native = require("./native.js");
const { CORE, hide } = require("./core.js");

/** Running MCP and OpenAPI servers that programs call with `(tool/call {...})`. */
class Servers {
  constructor(core) {
    hide(this, CORE, core);
  }

  /** Starts the servers of a configuration: a file, or what such a file holds. */
  static async start({ path, config, freeze = false }) {
    const file = path instanceof URL ? fileURLToPath(path) : path;
    const text = config === undefined || typeof config === "string" ? config : JSON.stringify(config);
    return new Servers(await native.ServersCore.start(file, text, freeze));
  }

  /** Stops all servers. */
  async stop() {
    await this[CORE].stop();
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    await this.stop();
  }

  get names() {
    return this[CORE].names;
  }

  /** Starts and lists all servers now; returns one text for each server that failed. */
  async load() {
    return this[CORE].load();
  }

  /** Returns the part of a prompt that describes the servers and their tools. */
  describe() {
    return this[CORE].describe();
  }

  get warnings() {
    return this[CORE].warnings;
  }
}

module.exports = { Servers };
