"""`ptc mcp` as clients of the official Python SDK see it.

python.py ERA WAY: the protocol (legacy, 2026-07-28, auto) and the transport (stdio, http).
PTC_SERVER is the program on pipes, or the address; PTC_TOKEN is what the address asks for.
"""

import asyncio
import os
import statistics
import sys
import time

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

era, way = sys.argv[1:]
server, token = os.environ["PTC_SERVER"], os.environ.get("PTC_TOKEN")


def connect(secret=token):
    if way == "http":
        http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {secret}"}, timeout=30)
        return Client(streamable_http_client(server, http_client=http), mode=era)
    # One program at a time: whoever comes before it has ended is told so.
    flags = ["--sessions", "--program-timeout-ms", "60000", "--max-concurrent-calls", "1"]
    return Client(StdioServerParameters(command=server, args=["mcp", *flags]), mode=era)


async def evaluate(client, program, **more):
    return await client.call_tool("lisp_eval", {"program": program}, **more)


def text(result):
    return result.content[0].text


async def tools(client):
    assert client.server_info is None or client.server_info.name == "ptc", client.server_info
    assert client.protocol_version == ("2025-11-25" if era == "legacy" else "2026-07-28"), client.protocol_version
    names = [tool.name for tool in (await client.list_tools()).tools]
    for name in ["lisp_eval", "lisp_session_start", "lisp_session_eval", "lisp_session_close"]:
        assert name in names, names


async def programs(client):
    args = {"program": "(reduce + data/ns)", "context": {"ns": [1, 2, 3]}}
    total = await client.call_tool("lisp_eval", args)
    assert not total.is_error and text(total) == "user=> 6", total
    # What is wrong with a program is told to the model, not to the client.
    fault = await evaluate(client, '(+ 1 "ü")')
    assert fault.is_error and "type_error" in text(fault), fault
    unknown = await client.call_tool("no_such_tool", {})
    assert unknown.is_error, unknown

    async def progress(*_):
        pass

    # Who asks for progress gets the answer at least.
    assert text(await evaluate(client, "(+ 1 2)", progress_callback=progress)) == "user=> 3"


async def session(client):
    started = await client.call_tool("lisp_session_start", {})
    named = {"session_id": started.structured_content["session_id"]}
    await client.call_tool("lisp_session_eval", {**named, "program": "(def x 41)"})
    later = await client.call_tool("lisp_session_eval", {**named, "program": "(inc x)"})
    assert text(later).startswith("user=> 42"), later
    assert not (await client.call_tool("lisp_session_close", named)).is_error


async def cancel(client):
    # A program that is given up makes room for the next, long before its time is over.
    endless = asyncio.create_task(evaluate(client, "(loop [i 0] (recur (inc i)))"))
    await asyncio.sleep(0.2)
    endless.cancel()
    given_up = time.monotonic()
    following = await evaluate(client, "(+ 1 2)")
    while following.is_error and time.monotonic() - given_up < 5:
        following = await evaluate(client, "(+ 1 2)")
    assert text(following) == "user=> 3", following


async def latency(client):
    times = []
    for _ in range(200):
        start = time.perf_counter()
        await evaluate(client, "(+ 1 2)")
        times.append((time.perf_counter() - start) * 1000)
    print(f"Python SDK, {era}, {way}: (+ 1 2) takes {statistics.median(times):.2f} ms, half of the time less")


async def main():
    async with connect() as client:
        for step in [tools, programs, session, cancel, latency]:
            await step(client)
    if way == "http":
        try:
            async with connect("not the token of this server, though as long") as client:
                await evaluate(client, "1")
        except Exception:
            pass
        else:
            raise AssertionError("a wrong token opened the door")
        # Leaving has ended the session; the next handshake begins another.
        async with connect() as client:
            assert text(await evaluate(client, "(* 6 7)")) == "user=> 42"


asyncio.run(main())
