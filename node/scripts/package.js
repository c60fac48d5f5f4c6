"use strict";
// Makes the packages that are published, in `npm/`; RELEASING.md.
//   node scripts/package.js PLATFORM   the package of a platform, such as linux-x64-gnu, with the binary that was built
//   node scripts/package.js main       the package that people install, which takes its binary from those

const { cpSync, mkdirSync, rmSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");

const folder = join(__dirname, "..");
const manifest = require("../package.json");

const PLATFORMS = {
  "darwin-arm64": { os: ["darwin"], cpu: ["arm64"] },
  "darwin-x64": { os: ["darwin"], cpu: ["x64"] },
  "linux-arm64-gnu": { os: ["linux"], cpu: ["arm64"], libc: ["glibc"] },
  "linux-x64-gnu": { os: ["linux"], cpu: ["x64"], libc: ["glibc"] },
  "win32-x64-msvc": { os: ["win32"], cpu: ["x64"] },
};

/** Makes a package of these files of the folder. */
function write(name, files, fields) {
  const target = join(folder, "npm", name);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  for (const file of files) cpSync(join(folder, file), join(target, file), { recursive: true });
  for (const license of ["LICENSE-APACHE", "LICENSE-MIT"]) cpSync(join(folder, "..", license), join(target, license));
  const { scripts: _, files: _files, ...shared } = manifest;
  writeFileSync(join(target, "package.json"), `${JSON.stringify({ ...shared, ...fields }, null, 2)}\n`);
  console.log(target);
}

function platform(name) {
  // Only what a package without JavaScript needs.
  const none = Object.fromEntries(
    ["bin", "exports", "keywords", "peerDependencies", "peerDependenciesMeta", "types"].map((field) => [field, undefined]),
  );
  const description = `The binary of ${manifest.name} for ${name}`;
  write(name, ["ptc.node"], { ...none, ...PLATFORMS[name], name: `${manifest.name}-${name}`, description, main: "ptc.node" });
}

function main() {
  const names = Object.keys(PLATFORMS).map((name) => `${manifest.name}-${name}`);
  const optionalDependencies = Object.fromEntries(names.map((name) => [name, manifest.version]));
  write("main", ["README.md", "bin", "lib"], { optionalDependencies });
}

const [name] = process.argv.slice(2);
if (name === "main") main();
else if (name in PLATFORMS) platform(name);
else {
  console.error(`package.js main | ${Object.keys(PLATFORMS).join(" | ")}`);
  process.exit(2);
}
