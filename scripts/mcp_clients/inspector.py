"""Lists and calls every tool with the inspector's command line: `inspector.py PROGRAM CATALOGUE URL TOKEN`.

Each call is a program of its own, which ends what it began. So of the calls that name a session of
another one it is only asked that they are answered with a result.
"""

import json
import subprocess
import sys

from calls import CALLS, Run

# What it exits with where the result says that the tool failed.
TOOL_FAILED = 5


def ask(program, target, *arguments):
    command = [*program, "--cli", *target, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode not in (0, TOOL_FAILED) or not done.stdout.strip():
        raise RuntimeError(f"{arguments}: {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}")
    return json.loads(done.stdout)


def call(program, target, tool, arguments):
    pairs = [f"{key}={value}" for key, value in arguments.items()]
    given = ["--method", "tools/call", "--tool-name", tool]
    if pairs:
        given += ["--tool-arg", *pairs]
    return ask(program, target, *given)


def run(name, program, target):
    one = Run(name)
    one.listed([tool["name"] for tool in ask(program, target, "--method", "tools/list")["tools"]])
    for tool, arguments, must_succeed in CALLS:
        result = call(program, target, tool, one.arguments(arguments))
        # Nobody is behind it who could be asked.
        must_succeed &= tool != "capitals"
        is_error = result.get("isError", False)
        if "$" in json.dumps(arguments):
            must_succeed = not is_error
        one.called(tool, must_succeed, is_error, result.get("structuredContent"))
        if not result["content"]:
            one.wrong.append(f"{tool}: the result is empty")
    return one.end()


def main(program, catalogue, url, token):
    program = program.split(" ")
    good = run("Inspector, stdio", program, ["--config", catalogue, "--server", "remit"])
    header = f"Authorization: Bearer {token}"
    target = [url, "--transport", "http", "--header", header]
    good &= run("Inspector, HTTP", program, target)
    return 0 if good else 1


sys.exit(main(*sys.argv[1:]))
