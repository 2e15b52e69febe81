"""Lists and calls every tool with the Python SDK: `sdk.py CATALOGUE URL TOKEN`.

Over standard streams and over HTTP, each with the revision that the two agree on and with a session. A
person who allows everything is behind the client, so the calls that need one's yes run.
"""

import asyncio
import json
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult

from calls import CALLS, Run


class Person:
    """Allows everything, and counts how often it was asked."""

    def __init__(self):
        self.asked = 0

    async def __call__(self, _context, _params):
        self.asked += 1
        return ElicitResult(action="accept", content={"always": False})


async def run(name, transport, mode):
    person, one = Person(), Run(name)
    lines = []

    async def progress(_done, _total, message):
        lines.append(message)

    async with Client(transport, mode=mode, elicitation_callback=person) as client:
        one.listed([tool.name for tool in (await client.list_tools()).tools])
        for tool, arguments, must_succeed in CALLS:
            result = await client.call_tool(tool, one.arguments(arguments), progress_callback=progress)
            one.called(tool, must_succeed, result.is_error, result.structured_content)
        version = client.protocol_version
    asked = sum(1 for tool, _, _ in CALLS if tool == "capitals")
    if person.asked != asked:
        one.wrong.append(f"a person was asked {person.asked} times, not {asked}")
    if not lines:
        one.wrong.append("nothing was heard of progress")
    one.name = f"{name}, {version}"
    return one.end()


async def main(catalogue, url, token):
    with open(catalogue, encoding="utf-8") as file:
        server = json.load(file)["mcpServers"]["remit"]
    good = True
    for mode in ("auto", "legacy"):
        good &= await run("Python SDK, stdio", StdioServerParameters(**server), mode)
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            good &= await run("Python SDK, HTTP", streamable_http_client(url, http_client=http), mode)
    return 0 if good else 1


sys.exit(asyncio.run(main(*sys.argv[1:])))
