#!/usr/bin/env node
"use strict";
// The command `ptc`, which is in the native half.

const native = require("../lib/native.js");

process.exit(native.command(["ptc", ...process.argv.slice(2)]));
