"""Judges what mcp-fuzzer found: `judge.py FOLDER URL`, with the token in REMIT_MCP_TOKEN.

It calls every answer without an error a finding (`accepted_malformed`), also where what it sent was in
order. Such an answer of a tool is a real finding where the arguments don't fit the tool's schema; one
of the protocol, where the kind of message is none that the server has. (The method that it writes down
is not the one that it sent, which goes by the kind.) The sandbox gives back what was put into it, and
remembers what was done in it, which is what it is for. Everything else that is found counts.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

import jsonschema
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport

KINDS = ("InitializeRequest", "PingRequest", "ListToolsRequest", "CallToolRequest", "SetLevelRequest")


OF_A_SANDBOX = ("injection_reflection", "non_determinism")


def is_real(finding, schemas):
    if finding["category"] in OF_A_SANDBOX and finding["target"].startswith("sandbox_"):
        return False
    if finding["category"] != "accepted_malformed":
        return True
    sent = finding["evidence"].get("input") or {}
    if finding["kind"] == "tool":
        return not jsonschema.Draft202012Validator(schemas[finding["target"]]).is_valid(sent)
    return finding["target"] not in KINDS and not finding["target"].endswith("Notification")


async def listed(url):
    headers = {"Authorization": f"Bearer {os.environ['REMIT_MCP_TOKEN']}"}
    async with Client(StreamableHttpTransport(url, headers=headers)) as client:
        return {tool.name: tool.input_schema for tool in await client.list_tools()}


def main(folder, url):
    summary = json.loads((Path(folder) / "run_summary.json").read_text(encoding="utf-8"))
    found = Path(folder) / "findings.json"
    findings = json.loads(found.read_text(encoding="utf-8"))["findings"] if found.exists() else []
    schemas = asyncio.run(listed(url))
    broken = summary["status"] != "completed" or not summary["tools"]["by_name"]
    for name, tool in summary["tools"]["by_name"].items():
        outcomes = tool["outcomes"]
        if outcomes["crashed"] or outcomes["anomaly"] or outcomes["exceptions"]:
            print(f"{name}: {outcomes}", file=sys.stderr)
            broken = True
    real = [finding for finding in findings if is_real(finding, schemas)]
    for finding in real:
        print(json.dumps(finding)[:2000], file=sys.stderr)
    print(f"  mcp-fuzzer: {len(findings)} answers looked at, {len(real)} findings")
    return 1 if real or broken else 0


sys.exit(main(*sys.argv[1:]))
