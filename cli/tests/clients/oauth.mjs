// `ptc mcp` behind an authorization server, as clients of the official TypeScript SDK see it: they find the
// authorization server by themselves, register, log in with PKCE, and call with the token they get.
//
// node oauth.mjs SDK: the package (1, 2). PTC_SERVER is the program.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash, createSign, generateKeyPairSync, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createServer as createSocket } from "node:net";

const [sdk] = process.argv.slice(2);
const modules = { 1: ["sdk/client/index.js", "sdk/client/streamableHttp.js"], 2: ["client"] }[sdk];
const loaded = await Promise.all(modules.map((name) => import(`@modelcontextprotocol/${name}`)));
const { Client, StreamableHTTPClientTransport } = Object.assign({}, ...loaded);

const listen = (server) => new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const freePort = async () => {
  const socket = createSocket();
  const port = await listen(socket);
  await new Promise((done) => socket.close(done));
  return port;
};

// The authorization server: one key, one user, codes that hold for one request.
const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const codes = new Map();
const seen = [];
const base64 = (value) => Buffer.from(value).toString("base64url");
const sign = (claims) => {
  const body = `${base64(JSON.stringify({ alg: "ES256", kid: "k", typ: "at+jwt" }))}.${base64(JSON.stringify(claims))}`;
  const signature = createSign("SHA256").update(body).sign({ key: privateKey, dsaEncoding: "ieee-p1363" });
  return `${body}.${base64(signature)}`;
};
const authorization = createServer(async (request, response) => {
  const url = new URL(request.url, issuer);
  let body = "";
  for await (const part of request) body += part;
  seen.push(url.pathname);
  const tell = (value, status = 200) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  switch (url.pathname) {
    case "/.well-known/oauth-authorization-server":
      return tell({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        registration_endpoint: `${issuer}/register`,
        jwks_uri: `${issuer}/keys`,
        response_types_supported: ["code"],
        grant_types_supported: ["authorization_code"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
      });
    case "/keys":
      return tell({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "k", use: "sig" }] });
    case "/register":
      return tell({ ...JSON.parse(body), client_id: randomUUID() }, 201);
    case "/authorize": {
      const code = randomUUID();
      codes.set(code, Object.fromEntries(url.searchParams));
      const back = new URL(url.searchParams.get("redirect_uri"));
      back.searchParams.set("code", code);
      return response.writeHead(302, { location: back.href }).end();
    }
    case "/token": {
      const form = Object.fromEntries(new URLSearchParams(body));
      const asked = codes.get(form.code);
      assert.equal(createHash("sha256").update(form.code_verifier).digest("base64url"), asked.code_challenge);
      const now = Math.floor(Date.now() / 1000);
      // The token is for the server that the client names, as RFC 8707 says.
      const claims = { iss: issuer, sub: "ada", aud: form.resource, exp: now + 600, scope: asked.scope };
      return tell({ access_token: sign(claims), token_type: "Bearer", expires_in: 600, scope: asked.scope });
    }
    default:
      return response.writeHead(404).end();
  }
});
let issuer = "http://127.0.0.1";
issuer = `http://127.0.0.1:${await listen(authorization)}`;

const port = await freePort();
const flags = ["--http", "--http-port", `${port}`, "--http-oauth-issuer", issuer, "--http-oauth-scope", "ptc:run"];
const server = spawn(process.env.PTC_SERVER, ["mcp", "--log-level=error", ...flags], { stdio: ["ignore", "ignore", "inherit"] });
process.on("exit", () => server.kill());
const address = new URL(`http://127.0.0.1:${port}/mcp`);
for (;;) {
  try {
    await fetch(address);
    break;
  } catch {
    await new Promise((done) => setTimeout(done, 20));
  }
}

// What a client keeps for its user; the browser is a request that follows no redirect.
let code;
const kept = {};
const provider = {
  redirectUrl: "http://127.0.0.1:1/callback",
  clientMetadata: {
    client_name: "test",
    redirect_uris: ["http://127.0.0.1:1/callback"],
    grant_types: ["authorization_code"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => (kept.tokens = tokens),
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier) => (kept.verifier = verifier),
  redirectToAuthorization: async (url) => {
    assert.equal(url.searchParams.get("scope"), "ptc:run", "the scope of the challenge is asked for");
    assert.equal(url.searchParams.get("resource"), address.href);
    const there = await fetch(url, { redirect: "manual" });
    code = new URL(there.headers.get("location")).searchParams.get("code");
  },
};

const transport = new StreamableHTTPClientTransport(address, { authProvider: provider });
const fresh = () => new Client({ name: "test", version: "1" });
await assert.rejects(fresh().connect(transport), /[Uu]nauthorized/);
await transport.finishAuth(code);
const client = fresh();
await client.connect(new StreamableHTTPClientTransport(address, { authProvider: provider }));
const told = await client.callTool({ name: "lisp_eval", arguments: { program: "(* 6 7)" } });
assert.equal(told.content[0].text, "user=> 42");
for (const path of ["/.well-known/oauth-authorization-server", "/register", "/authorize", "/token", "/keys"]) {
  assert.ok(seen.includes(path), `${path} was not asked`);
}

// A token for another server does not open this one.
const now = Math.floor(Date.now() / 1000);
const stolen = sign({ iss: issuer, sub: "ada", aud: "https://other.example/mcp", exp: now + 600, scope: "ptc:run" });
const refused = await fetch(address, { method: "POST", headers: { authorization: `Bearer ${stolen}` }, body: "{}" });
assert.equal(refused.status, 401);
assert.match(refused.headers.get("www-authenticate"), /error="invalid_token".*resource_metadata="/);
console.log(`oauth, TypeScript ${sdk}: logged in and called`);
await client.close();
process.exit(0);
