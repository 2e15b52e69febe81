"""Lists and calls every tool with FastMCP's client: `fast.py CATALOGUE URL TOKEN`."""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport

from calls import CALLS, Run


async def yes(_message, _response_type, _params, _context):
    return {"always": False}


async def run(name, transport):
    one = Run(name)
    async with Client(transport, elicitation_handler=yes, timeout=60) as client:
        one.listed([tool.name for tool in await client.list_tools()])
        for tool, arguments, must_succeed in CALLS:
            result = await client.call_tool(tool, one.arguments(arguments), raise_on_error=False)
            one.called(tool, must_succeed, result.is_error, result.structured_content)
    return one.end()


async def main(catalogue, url, token):
    with open(catalogue, encoding="utf-8") as file:
        servers = json.load(file)
    good = await run("FastMCP, stdio", servers)
    headers = {"Authorization": f"Bearer {token}"}
    good &= await run("FastMCP, HTTP", StreamableHttpTransport(url, headers=headers))
    return 0 if good else 1


sys.exit(asyncio.run(main(*sys.argv[1:])))
