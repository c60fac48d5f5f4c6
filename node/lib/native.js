"use strict";
// The native half: built beside this file in a clone, or the package of the platform.

const { existsSync } = require("node:fs");
const { join } = require("node:path");

/** Name of the platform in the names of packages, such as `linux-x64-gnu`. */
function platform() {
  const name = `${process.platform}-${process.arch}`;
  if (process.platform === "linux") return `${name}-${isMusl() ? "musl" : "gnu"}`;
  return process.platform === "win32" ? `${name}-msvc` : name;
}

function isMusl() {
  return !process.report?.getReport().header.glibcVersionRuntime;
}

function load() {
  const built = join(__dirname, "..", "ptc.node");
  if (existsSync(built)) return require(built);
  try {
    return require(`ptc-lisp-${platform()}`);
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
    const message =
      `ptc-lisp has no binary for ${platform()}: reinstall without --omit=optional, ` +
      "or build it in a clone with `npm run build` in node/";
    throw new Error(message, { cause: error });
  }
}

module.exports = load();

/** Name of the package with the binary, behind `ptc-lisp-`. */
module.exports.platform = platform();
