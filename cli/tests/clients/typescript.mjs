// `ptc mcp` as clients of the official TypeScript SDK see it.
//
// node typescript.mjs SDK ERA WAY: the package (1, 2), the protocol (legacy, modern, auto), the transport (stdio, http).
// PTC_SERVER is the program on pipes, or the address; PTC_TOKEN is what the address asks for.
import assert from "node:assert/strict";

const [sdk, era, way] = process.argv.slice(2);
const { PTC_SERVER: server, PTC_TOKEN: token } = process.env;
const modules = {
  1: ["sdk/client/index.js", "sdk/client/stdio.js", "sdk/client/streamableHttp.js"],
  2: ["client", "client/stdio"],
}[sdk];
const loaded = await Promise.all(modules.map((name) => import(`@modelcontextprotocol/${name}`)));
const { Client, StdioClientTransport, StreamableHTTPClientTransport } = Object.assign({}, ...loaded);

function transport(secret = token, sessionId = undefined) {
  if (way === "http") {
    const requestInit = { headers: { Authorization: `Bearer ${secret}` } };
    return new StreamableHTTPClientTransport(new URL(server), { requestInit, sessionId });
  }
  // One program at a time: whoever comes before it has ended is told so.
  const args = ["mcp", "--sessions", "--program-timeout-ms", "60000", "--max-concurrent-calls", "1"];
  return new StdioClientTransport({ command: server, args });
}

async function connect(over = transport()) {
  const mode = { legacy: "legacy", modern: { pin: "2026-07-28" }, auto: "auto" }[era];
  const client = new Client({ name: "test", version: "1" }, sdk === "1" ? {} : { versionNegotiation: { mode } });
  await client.connect(over);
  return client;
}

const call = (client, name, args, options) =>
  client.callTool({ name, arguments: args }, ...(sdk === "1" ? [undefined, options] : [options]));
const evaluate = (client, program, options) => call(client, "lisp_eval", { program }, options);
const text = (result) => result.content[0].text;

const client = await connect();
assert.equal(client.getServerVersion().name, "ptc");
assert.ok(client.getServerCapabilities().tools);
if (sdk === "2") {
  const agreed = era === "legacy" ? "2025-11-25" : "2026-07-28";
  assert.equal(client.getNegotiatedProtocolVersion(), agreed);
}

const { tools } = await client.listTools();
const names = tools.map((tool) => tool.name);
for (const name of ["lisp_eval", "lisp_session_start", "lisp_session_eval", "lisp_session_close"]) {
  assert.ok(names.includes(name), `${name} is not in ${names}`);
}

const sum = await call(client, "lisp_eval", { program: "(reduce + data/ns)", context: { ns: [1, 2, 3] } });
assert.equal(text(sum), "user=> 6");
assert.ok(!sum.isError);

// What is wrong with a program is told to the model, not to the client.
const fault = await evaluate(client, '(+ 1 "ü")');
assert.ok(fault.isError);
assert.match(text(fault), /type_error/);
const unknown = await call(client, "no_such_tool", {});
assert.ok(unknown.isError);

const started = await call(client, "lisp_session_start", {});
const { session_id } = started.structuredContent;
await call(client, "lisp_session_eval", { session_id, program: "(def x 41)" });
const later = await call(client, "lisp_session_eval", { session_id, program: "(inc x)" });
assert.match(text(later), /^user=> 42/);
assert.ok(!(await call(client, "lisp_session_close", { session_id })).isError);

// Who asks for progress gets the answer at least.
assert.equal(text(await evaluate(client, "(+ 1 2)", { onprogress: () => {} })), "user=> 3");

// A program that is given up makes room for the next, long before its time is over.
const patience = new AbortController();
const endless = evaluate(client, "(loop [i 0] (recur (inc i)))", { signal: patience.signal });
setTimeout(() => patience.abort(), 200);
await assert.rejects(endless);
const given_up = Date.now();
let next = await evaluate(client, "(+ 1 2)");
while (next.isError && Date.now() - given_up < 5000) next = await evaluate(client, "(+ 1 2)");
assert.equal(text(next), "user=> 3");

const times = [];
for (let i = 0; i < 200; i++) {
  const start = performance.now();
  await evaluate(client, "(+ 1 2)");
  times.push(performance.now() - start);
}
times.sort((a, b) => a - b);
console.log(`TypeScript SDK ${sdk}, ${era}, ${way}: (+ 1 2) takes ${times[100].toFixed(2)} ms, half of the time less`);
await client.close();

if (way === "http") {
  await assert.rejects(connect(transport("not the token of this server, though as long")), /401|bearer token/i);
  if (era === "legacy") {
    // A session that was ended is gone; the next handshake begins another.
    const ended = transport();
    const brief = await connect(ended);
    const id = ended.sessionId;
    await ended.terminateSession();
    await brief.close();
    const late = await connect(transport(token, id));
    await assert.rejects(evaluate(late, "1"), /404|session unavailable/);
  }
  const again = await connect();
  assert.equal(text(await evaluate(again, "(* 6 7)")), "user=> 42");
  await again.close();
}
