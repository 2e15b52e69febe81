#!/usr/bin/env bash
# The presets of sub-agents with the programs that they are for: Claude Code, Codex, opencode and
# Gemini CLI from npm, aider from PyPI, and remit itself; against a model that gives one answer.
#
# Checks that each preset's flags are there, that a task arrives as it is, and that an answer is read
# from what a program prints. Prints what it saw. Not a part of the tests: it downloads a gigabyte.
# Programs are kept in REMIT_PRESETS_DIR (default: target/presets). Goose is on neither registry.
#
# Started by hand.
#
# Exit code 0: all held. 1: the lines that begin with FAIL say what did not. 2: something is missing.
# Needs cargo, python3 with venv, node 20 and npm.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

keep=${REMIT_PRESETS_DIR:-target/presets}
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

missing() {
  echo "MISSING $1"
  echo "The presets were not tried: $1"
  exit 2
}

for program in cargo python3 node npm; do
  command -v "$program" >/dev/null || missing "$program is not installed"
done
mkdir -p -- "$keep"
keep=$(cd -- "$keep" && pwd)
if ! test -d "$keep/node_modules/opencode-ai"; then
  npm install --prefix "$keep" --ignore-scripts --no-audit --no-fund --silent \
    @anthropic-ai/claude-code @openai/codex opencode-ai @google/gemini-cli ||
    missing "the agents can't be installed by npm"
  # Of the scripts only those two that put a binary in its place.
  (cd "$keep/node_modules/@anthropic-ai/claude-code" && node install.cjs)
  (cd "$keep/node_modules/opencode-ai" && node postinstall.mjs)
fi
if ! test -x "$keep/aider/bin/aider"; then
  python3 -m venv "$keep/aider"
  "$keep/aider/bin/pip" install --quiet aider-chat || missing "aider can't be installed by pip"
fi
cargo build --quiet --locked -p cli

python3 scripts/presets/try.py target/debug/remit "$keep" "$scratch/run"
echo "all held"
