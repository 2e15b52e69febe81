"""Tries every preset of sub-agents with the program that it is for.

In: the built `remit`, a folder of programs (`node_modules/.bin`, `aider/bin`), and an empty folder to
work in. Each program is started by `remit` itself, confined, against a model on loopback that gives one
answer. Says of each preset: that its flags are in the program's help, that the task arrives unchanged,
and what `collect` reads from what the program prints. Exit code 1 where a line begins with FAIL.

usage: try.py REMIT PROGRAMS SCRATCH
"""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
PRESETS = tomllib.loads((HERE / "../../crates/spawner/src/config/presets.toml").read_text())
REMIT, PROGRAMS, SCRATCH = (Path(word).resolve() for word in sys.argv[1:4])
TASK = "-starts with a dash\nand newline"
ANSWER = "the answer is 42"
MODELS = {
    "claude": "claude-sonnet-4-5",
    "codex": "gpt-5",
    "opencode": "scripted/scripted",
    "gemini": "gemini-2.5-flash",
    "aider": "openai/gpt-4o",
    "remit": "scripted",
}
# What each writes in its home: its own folders, and nothing else of it.
FOLDERS = {
    "claude": [".claude"],
    "codex": [".codex"],
    "opencode": [".local", ".config", ".cache"],
    "gemini": [".gemini"],
    "aider": [".aider", ".cache"],
}
SUBCOMMANDS = {"codex": ["exec"], "opencode": ["run"], "goose": ["run"], "remit": ["agent"]}
failures = 0


def check(name, holds, seen=""):
    """Says whether something holds."""
    global failures
    failures += not holds
    print(f"{'ok   ' if holds else 'FAIL '} {name}" + ("" if holds else f": {seen}"), flush=True)


def program(name):
    """Where a preset's program is, or nothing."""
    if name == "remit":
        return REMIT
    known = PRESETS[name]["program"]
    places = [PROGRAMS / "node_modules/.bin" / known, PROGRAMS / "aider/bin" / known]
    return next((place for place in places if place.exists()), None)


def files(home, url):
    """What the programs want to find in their home: which model, and that a key is used."""
    settings = {
        ".codex/config.toml": f'model_provider = "s"\n[model_providers.s]\nname = "s"\n'
        f'base_url = "{url}/v1"\nenv_key = "OPENAI_API_KEY"\nwire_api = "responses"\n',
        ".gemini/settings.json": json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}}),
        "opencode.json": json.dumps({
            "provider": {"scripted": {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
                "models": {"scripted": {"name": "scripted"}},
            }}
        }),
    }
    for folder in {folder for folders in FOLDERS.values() for folder in folders}:
        (home / folder).mkdir(parents=True, exist_ok=True)
    for place, text in settings.items():
        (home / place).parent.mkdir(parents=True, exist_ok=True)
        (home / place).write_text(text)


def variables(home, url):
    """The variables of all programs: where the model is, and a home of their own."""
    return {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "ANTHROPIC_BASE_URL": url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "GOOGLE_GEMINI_BASE_URL": url,
        "OPENAI_API_BASE": f"{url}/v1",
        "OPENCODE_CONFIG": f"{home}/opencode.json",
        "REMIT_MODEL_URL": f"{url}/v1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }


def config(names, home, url):
    """The configuration of a host that can start all of them."""
    lines = ["[tools]", "execute = true", f'workdir = "{SCRATCH}/work"', "[subagent]", "enabled = true"]
    lines += [f'state_dir = "{SCRATCH}/state"', "total_time_secs = 3600"]
    variable = ", ".join(f'{name} = "{value}"' for name, value in variables(home, url).items())
    for name in names:
        lines += [f"[subagent.providers.{name}]", f'preset = "{name}"', f'program = "{program(name)}"']
        lines += [f'model = "{MODELS[name]}"', 'workdir_access = "read_write"']
        written = ", ".join(f'"{home}/{folder}"' for folder in FOLDERS.get(name, []))
        # aider's environment is of the Python that runs this.
        readable = ", ".join(f'"{place}"' for place in (PROGRAMS, home, sys.base_prefix))
        lines += [f"readable = [{readable}]", f"writable = [{written}]", f"env = {{ {variable} }}"]
        lines += [f'credentials = ["{PRESETS[name]["credential"]}"]', "timeout_secs = 120"]
        lines += ["memory_bytes = 4294967296"]
    path = SCRATCH / "remit.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def flags(name, home):
    """Every flag of a preset is in its program's help."""
    wanted = [word.split("=")[0] for word in PRESETS[name]["args"] if word.startswith("-") and word != "-"]
    command = [program(name), *SUBCOMMANDS.get(name, []), "--help"]
    env = os.environ | {"HOME": str(home), "COLUMNS": "400"}
    told = subprocess.run(command, capture_output=True, text=True, env=env, stdin=subprocess.DEVNULL)
    words = set((told.stdout + told.stderr).replace(",", " ").replace("[", " ").replace("=", " ").split())
    check(f"{name}: its help knows {' '.join(wanted)}", set(wanted) <= words, set(wanted) - words)


class Host:
    """A `remit exec` that is asked one thing after the other."""

    def __init__(self, path):
        command = [REMIT, "exec", "--json", "--config", path, "--allow-tool", "subagent"]
        keys = {preset["credential"]: "sk-none" for preset in PRESETS.values()}
        own = {name: value for name, value in os.environ.items() if not name.startswith("REMIT_")}
        env = own | keys | {"HOME": str(SCRATCH)}
        pipe = subprocess.PIPE
        self.remit = subprocess.Popen(
            [*command, "--exec-timeout-ms", "60000"], stdin=pipe, stdout=pipe, text=True, env=env
        )

    def ask(self, **arguments):
        call = {"id": "c", "name": "subagent", "arguments": arguments}
        self.remit.stdin.write(json.dumps(call) + "\n")
        self.remit.stdin.flush()
        result = json.loads(self.remit.stdout.readline())
        if result["status"] != "ok":
            raise SystemExit(f"FAIL  {arguments['op']}: {result['error']}")
        return result["content"][0]["json"]

    def end(self):
        self.remit.stdin.close()
        self.remit.wait()


def run(name, host, log):
    """Starts one, and looks at what arrived and at what came back."""
    log.write_text("")
    id_ = host.ask(op="spawn", provider=name, task=TASK)["id"]
    since = 0
    while not (seen := host.ask(op="collect", id=id_, since=since, wait_ms=20000))["done"]:
        since = seen["next"]
    whole = host.ask(op="collect", id=id_)
    asked = [text for line in log.read_text().splitlines() for text in json.loads(line)["users"]]
    check(f"{name}: ended well", whole["state"] == "exited", whole)
    check(f"{name}: the task arrived as it is", TASK in asked, asked)
    shapes = PRESETS[name].get("output", [])
    if not shapes:
        said = "".join(piece.get("text", "") for piece in whole["output"])
        check(f"{name}: the answer is in its output", ANSWER in said, said)
        return
    result = whole.get("result") or {}
    check(f"{name}: the answer is its result", result.get("text") == ANSWER, whole)
    for key, wanted in (("tokens", "input_tokens"), ("cost_usd", "cost_usd"), ("session", "session")):
        if any(shape.get(wanted) for shape in shapes):
            check(f"{name}: it says its {key}", result.get(key) is not None, result)
    print(f"--    {name}: {json.dumps(result)}")


def main():
    names = [name for name in PRESETS if program(name) and name in MODELS]
    for name in sorted(set(PRESETS) - set(names)):
        print(f"--    {name}: its program is not here, so it was not tried")
    home, log = SCRATCH / "home", SCRATCH / "served.jsonl"
    home.mkdir(parents=True)
    (SCRATCH / "work").mkdir()
    serve = [sys.executable, HERE / "serve.py", log, ANSWER]
    server = subprocess.Popen(serve, stdout=subprocess.PIPE, text=True)
    try:
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
        files(home, url)
        host = Host(config(names, home, url))
        for name in names:
            told = subprocess.run([program(name), "--version"], capture_output=True, text=True,
                                  env=os.environ | {"HOME": str(home)}, stdin=subprocess.DEVNULL)
            print(f"--    {name}: {told.stdout.strip() or told.stderr.strip()}")
            flags(name, home)
            run(name, host, log)
        host.end()
    finally:
        server.kill()
        server.wait()
    raise SystemExit(1 if failures else 0)


main()
