"use strict";
// Builds the native half with Cargo, as `ptc.node`. `PTC_NODE_PROFILE=dev` builds faster, for development.

const { spawnSync } = require("node:child_process");
const { copyFileSync, existsSync, renameSync } = require("node:fs");
const { join } = require("node:path");

const folder = join(__dirname, "..");
const profile = process.env.PTC_NODE_PROFILE ?? "release";
const target = process.env.CARGO_TARGET_DIR ?? join(folder, "target");

const library = {
  darwin: "libptc_node.dylib",
  win32: "ptc_node.dll",
}[process.platform] ?? "libptc_node.so";

function build() {
  // A published package has no source: its binary is a package of its own.
  if (!existsSync(join(folder, "Cargo.toml"))) return;
  const { error, status } = spawnSync("cargo", ["build", "--locked", "--profile", profile], {
    cwd: folder,
    stdio: "inherit",
  });
  if (error) throw new Error("building ptc-lisp needs a Rust toolchain: see https://rustup.rs", { cause: error });
  if (status !== 0) process.exit(status ?? 1);
  const triple = process.env.CARGO_BUILD_TARGET ?? "";
  const built = join(target, triple, profile === "dev" ? "debug" : profile, library);
  // A process that has the old file open keeps it.
  const fresh = join(folder, "ptc.node.new");
  copyFileSync(built, fresh);
  renameSync(fresh, join(folder, "ptc.node"));
}

build();
