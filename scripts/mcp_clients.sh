#!/usr/bin/env bash
# Clients that no one here wrote, against the built server: the conformance suite of the protocol with
# both of its requirement sets; the Python SDK, FastMCP and the inspector, which list and call every
# tool over both transports; mcpcheck; mcp-fuzzer.
#
# `mcp_clients.sh fetch` installs them, in the versions that scripts/mcp_clients names, below the target
# folder; it needs the network, npm and python3 with venv. `mcp_clients.sh` runs them, without network.
# What is not installed is skipped with a line; where REMIT_TEST_NO_SKIP is set, that is a failure.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
here=$PWD/scripts/mcp_clients
target=${CARGO_TARGET_DIR:-$PWD/target}
place=$target/mcp-clients
modules=$place/npm/node_modules

# is_current STAMP LIST: whether what LIST names is what was installed.
is_current() { cmp -s -- "$1" "$2"; }

fetch_npm() {
  if is_current "$place/npm/package.json" "$here/package.json" && [[ -e $place/npm/done ]]; then return; fi
  command -v npm >/dev/null || { echo 'npm is not installed: no conformance suite, no inspector'; return; }
  rm -rf -- "$place/npm"
  mkdir -p "$place/npm"
  cp "$here/package.json" "$place/npm/"
  (cd "$place/npm" && npm install --silent --no-audit --no-fund --no-package-lock >npm.log 2>&1) ||
    { tail -n 20 "$place/npm/npm.log"; return 1; }
  "$modules/.bin/node" --version >/dev/null
  touch "$place/npm/done"
}

fetch_python() {
  if is_current "$place/venv/installed.txt" "$here/requirements.txt"; then return; fi
  rm -rf -- "$place/venv"
  python3 -m venv "$place/venv" || { echo 'python3 has no venv: no clients in Python'; return; }
  "$place/venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
  cp "$here/requirements.txt" "$place/venv/installed.txt"
}

# has NAME FILE: whether the clients of that name are installed.
has() {
  if [[ -e $2 ]]; then return 0; fi
  if [[ -n ${REMIT_TEST_NO_SKIP:-} ]]; then
    echo "$1: not installed, and nothing may be skipped here"
    exit 1
  fi
  echo "SKIPPED: $1 are not installed (scripts/mcp_clients.sh fetch)"
  return 1
}

started=()
work=
stop() {
  local one
  for one in ${started[@]+"${started[@]}"}; do kill -- "$one" 2>/dev/null || true; done
  wait
  if [[ -n $work ]]; then rm -rf -- "$work"; fi
}

# serve OUTPUT COMMAND...: starts a server, and gives the URL that it writes to OUTPUT in `url`.
serve() {
  local output=$1 tries=0
  shift
  : >"$output"
  "$@" >"$output" 2>&1 </dev/null &
  started+=($!)
  until url=$(grep -om 1 'http://[^ ]*/mcp' "$output"); do
    tries=$((tries + 1))
    if [[ $tries -gt 300 ]]; then
      cat "$output"
      return 1
    fi
    sleep 0.1
  done
}

conformance() {
  local set log
  serve "$work/conformance.txt" "$target/debug/examples/conformance" 127.0.0.1:0
  for set in 2025-11-25 2026-07-28; do
    log=$work/conformance-$set.txt
    if ! "$modules/.bin/node" "$modules/@modelcontextprotocol/conformance/dist/index.js" server \
      --url "$url" --requirements "$set" --output-dir "$work/results" \
      --expected-failures crates/mcp-server/examples/conformance/expected_failures.yml >"$log" 2>&1; then
      sed -n '/=== SUMMARY/,$p' "$log"
      return 1
    fi
    echo "  conformance, $set: $(grep -c '^✓' "$log") scenarios pass, $(grep -c '^  ~' "$log")" \
      'scenarios or checks are of what the server does not have'
  done
}

# serve_tools NAME ALLOW: the whole server with the tools that ALLOW names, and a catalogue of it for
# clients that start it themselves.
serve_tools() {
  local flags=(mcp --config "$work/$1.toml" --exec-workdir "$work/files")
  mkdir -p "$work/files"
  echo 'hello' >"$work/files/hello.txt"
  cat >"$work/$1.toml" <<TOML
[sandbox]
enabled = true
[tools]
execute = true
allow = [$2]
[tools.lookup.capitals]
France = "Paris"
TOML
  "$target/debug/remit" "${flags[@]}" --print-config claude >"$work/$1.json" 2>/dev/null
  serve "$work/$1.txt" "$target/debug/remit" "${flags[@]}" --http 127.0.0.1:0
}

# The clients that list and call every tool. A person is asked before one of them.
callers() {
  local tools='"sandbox", "capitals", "read_file_in_workdir", "search_in_workdir", "list_dir_in_workdir"'
  serve_tools every "$tools]"$'\n'"ask = [\"capitals\""
  local about=("$work/every.json" "$url" "$REMIT_MCP_TOKEN")
  "$place/venv/bin/python" "$here/sdk.py" "${about[@]}"
  "$place/venv/bin/python" "$here/fast.py" "${about[@]}"
  if has 'the inspector' "$place/npm/done"; then
    export MCP_INSPECTOR_SECRET_STORE=memory
    "$place/venv/bin/python" "$here/inspector.py" \
      "$modules/.bin/node $modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js" \
      "${about[@]}"
  fi
}

# The tools whose results are structured: for mcpcheck a result that is a text is a warning.
checked() {
  serve_tools checked '"sandbox", "search_in_workdir", "list_dir_in_workdir"'
  MCPCHECK_TOKEN=$REMIT_MCP_TOKEN "$place/venv/bin/jbt-mcpcheck" "$url" --strict --legacy-probes \
    --probe all --no-color 2>&1 | sed -n 's/^\([✓✗!]\|All\)/  mcpcheck: &/p'
}

# Without code in Python, whose tracebacks mcp-fuzzer takes for the server's, and without new sessions,
# of which there may be only so many.
fuzzed() {
  serve_tools fuzzed '"sandbox.execute_bash", "sandbox.session_status", "sandbox.session_destroy",
    "sandbox.file_put", "sandbox.file_get", "capitals",
    "read_file_in_workdir", "search_in_workdir", "list_dir_in_workdir"'
  cat >"$work/auth.json" <<JSON
{"providers": {"remit": {"type": "api_key", "api_key": "$REMIT_MCP_TOKEN"}}, "default_provider": "remit"}
JSON
  "$place/venv/bin/mcp-fuzzer" --mode all --phase both --protocol streamablehttp --endpoint "$url" \
    --auth-config "$work/auth.json" --runs 20 --runs-per-type 10 --seed 42 --security-audit \
    --security-audit-intrusive --no-network --fail-if-no-tools --output-dir "$work/fuzz" \
    >"$work/fuzz.txt" 2>&1 || { tail -n 50 "$work/fuzz.txt"; return 1; }
  "$place/venv/bin/python" "$here/judge.py" "$work/fuzz" "$url"
}

case ${1:-run} in
fetch)
  fetch_npm
  fetch_python
  ;;
run)
  work=$(mktemp -d)
  trap stop EXIT
  cargo build --quiet --locked -p cli
  cargo build --quiet --locked -p mcp-server --example conformance
  REMIT_MCP_TOKEN=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  export REMIT_MCP_TOKEN
  if has 'the conformance suite and the inspector' "$place/npm/done"; then conformance; fi
  if has 'the clients in Python' "$place/venv/installed.txt"; then
    callers
    checked
    fuzzed
  fi
  ;;
*)
  echo 'mcp_clients.sh [fetch | run]' >&2
  exit 2
  ;;
esac
