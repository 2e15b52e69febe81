#!/usr/bin/env bash
# The promises of the sandbox, checked on the built program: the flags that --help names, two
# mistakes of an operator, the first command of the README, recorded calls in every shape, and the
# acceptance tests by name.
#
# Prints a line for each check and writes what was measured to artifacts/sandbox_smoke.json.
# Exit code 0: all held. 1: the lines that begin with FAIL say what did not.
# Needs cargo and the base tools of the system. Nothing of it uses the network.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly tools=data/tools_sandbox_smoke.json
readonly calls=data/calls_smoke.jsonl
readonly workdir=data/workdir
readonly first_calls=data/calls_first.jsonl
readonly first_command=(
  cargo run --release -p cli -- exec --config data/first.toml "$first_calls"
)
readonly flags=(
  --tools --execute-tools --allow-tool --exec-timeout-ms --exec-max-output-bytes
  --exec-max-args-bytes --exec-workdir --audit --jobs --fail-on-error --ask-tool
)
# What each call of a file is answered with: its id, its status, and for an error its kind, where
# one of the pipeline's stages gives it. A "-" leaves the kind open.
readonly first_answers=(
  "read ok -" "python ok -" "python-remembers ok -" "bash ok -" "bash-remembers ok -" "timeout ok -"
  "after-timeout ok -" "no-secrets ok -" "no-network ok -" "escape error -"
  "unknown-tool error unknown_tool" "not-authorized error unauthorized"
  "wrong-type error invalid_arguments" "too-large error arguments_too_large"
  "cut-off error malformed_call"
)
readonly answers=(
  "read-openai ok -" "read-flat ok -" "read-anthropic ok -" "read-part ok -" "double-encoded ok -"
  "unknown-tool error unknown_tool" "wrong-case error unknown_tool"
  "not-authorized error unauthorized" "escape-parent error -" "escape-absolute error -"
  "missing-argument error invalid_arguments" "wrong-type error invalid_arguments"
  "cut-off-arguments error invalid_arguments" "too-large error arguments_too_large"
  "cut-off-line error malformed_call"
)
readonly acceptance=(
  unlisted_tool_name_is_hard_refused_never_attempted
  unauthorized_but_declared_tool_is_refused_at_execution_not_declaration
  execution_timeout_kills_a_hanging_tool_call
  execution_respects_configured_memory_and_cpu_ceiling
  malformed_tool_call_json_is_never_executed
  execution_result_re_ingests_correctly_into_the_next_chain_step
)

scratch=$(mktemp -d)
readonly scratch
trap 'rm -rf -- "$scratch"' EXIT
readonly out=$scratch/out err=$scratch/err
checks=0
failures=0

now_ms() {
  local now=${EPOCHREALTIME/[.,]/}
  echo "$((now / 1000))"
}

# check NAME COMMAND...: one line of the report; a failure is counted and the script goes on.
check() {
  local name=$1
  shift
  checks=$((checks + 1))
  if "$@"; then
    printf 'ok   %s\n' "$name"
  else
    failures=$((failures + 1))
    printf 'FAIL %s\n' "$name"
  fi
}

# run SECONDS COMMAND...: runs it with no input and a bound, and sets `status`; output goes to $out
# and $err.
run() {
  status=0
  timeout --kill-after=5 "$@" </dev/null >"$out" 2>"$err" || status=$?
}

# names_flag FLAG: whether the help in $out names the flag as a word of its own.
names_flag() {
  grep -qE -- "(^|[^a-z-])$1([^a-z-]|\$)" "$out"
}

check_help() {
  flags_found=0
  run 60 "$remit" exec --help
  check "exec --help ends with 0" test "$status" -eq 0
  local flag
  for flag in "${flags[@]}"; do
    check "exec --help names $flag" names_flag "$flag"
    if names_flag "$flag"; then flags_found=$((flags_found + 1)); fi
  done
}

# is_operator_error WORD: exit code 2, nothing on standard output, the word in what is said.
is_operator_error() {
  [[ $status -eq 2 && ! -s $out ]] && grep -qF -- "$1" "$err" && return
  printf '     exit code %s, said: %s\n' "$status" "$(head -c 400 "$err")"
  return 1
}

check_operator_errors() {
  local before=$failures
  run 60 "$remit" exec --tools "$tools" --execute-tools --allow-tool no_such_tool "$calls"
  check "an allowed tool that is not declared is refused" is_operator_error no_such_tool
  run 60 "$remit" exec --tools "$tools" --allow-tool read_file_in_workdir "$calls"
  check "--allow-tool without --execute-tools is refused" is_operator_error --execute-tools
  operator_errors=$((2 - (failures - before)))
}

# lacks TEXT: whether the text stands nowhere in $out.
lacks() {
  ! grep -qF -- "$1" "$out"
}

readme_holds_first_command() {
  tr -d '\\' <README.md | tr -s '[:space:]' ' ' | grep -qF -- "${first_command[*]}"
}

# answer LINE: the id, status and error kind of a result, as the list above writes them.
answer() {
  local id status kind=-
  [[ $1 =~ \"call_id\":\"([^\"]*)\" ]] && id=${BASH_REMATCH[1]} || return 1
  [[ $1 =~ \"status\":\"(ok|error)\" ]] && status=${BASH_REMATCH[1]} || return 1
  if [[ $1 =~ \"error\":\{\"kind\":\"([a-z_]+)\" ]]; then kind=${BASH_REMATCH[1]}; fi
  echo "$id $status $kind"
}

# is_answered_as EXPECTED FOUND
is_answered_as() {
  [[ $2 == "$1" || ($1 == *" -" && ${2% *} == "${1% *}") ]] && return
  printf '     expected %s, found %s\n' "$1" "$2"
  return 1
}

# result ID: the line of $out that answers the call.
result() {
  grep -F -- "{\"call_id\":\"$1\"," "$out"
}

# says ID TEXT: whether the answer to the call holds the text.
says() {
  result "$1" | grep -qF -- "$2" && return
  printf '     expected %s in: %s\n' "$2" "$(result "$1" | head -c 600)"
  return 1
}

# check_calls FILE ANSWER...: the results in $out against the calls of the file.
check_calls() {
  local file=$1 lines=() i found
  shift
  mapfile -t lines <"$out"
  lines_in=$(wc -l <"$file")
  lines_out=${#lines[@]}
  check "$file: one result for each of $lines_in calls" test "$lines_out" -eq "$lines_in"
  results_ok=$(grep -cF '"status":"ok"' "$out" || true)
  results_error=$(grep -cF '"status":"error"' "$out" || true)
  i=0
  for expected in "$@"; do
    found=$(answer "${lines[i]:-}" || echo nothing)
    check "$file: call ${expected%% *}" is_answered_as "$expected" "$found"
    i=$((i + 1))
  done
}

check_first_command() {
  local start
  start=$(now_ms)
  run 900 "${first_command[@]}"
  calls_ms=$(($(now_ms) - start))
  check "the first command ends with 0" test "$status" -eq 0
  if [[ $status -ne 0 ]]; then head -c 2000 "$err"; fi
  check_calls "$first_calls" "${first_answers[@]}"
  first_score=$(score)
  check "Python remembers" says python-remembers '"value":"17"'
  check "bash remembers" says bash-remembers 'notes\ngreen\nhello'
  check "an endless loop is ended" says timeout '"timed_out":true'
  check "what it printed is kept" says timeout '"stdout":"counting\n"'
  check "and so is the session" says after-timeout '"value":"4"'
  check "there are no secrets" says no-secrets '/etc/shadow: No such file'
  check "there is no network" says no-network 'Network is unreachable'
  check "the kernel says so" says python '"seccomp":{"status":"enforced"}'
  check "nothing outside of the workdir is read" lacks 'what exists and what is allowed'
  check "README.md holds the first command" readme_holds_first_command
}

check_recorded_calls() {
  local start
  start=$(now_ms)
  run 60 "$remit" exec --tools "$tools" --execute-tools --allow-tool read_file_in_workdir \
    --exec-workdir "$workdir" "$calls"
  calls_ms=$(($(now_ms) - start))
  check "recorded calls end with 0" test "$status" -eq 0
  check_calls "$calls" "${answers[@]}"
  recorded_score=$(score)
  check "the file is read as it is" grep -qF 'καλημέρα' "$out"
  check "nothing outside of the workdir is read" lacks 'Sends a mail'
}

# score: what was measured of the calls that ran last, as JSON.
score() {
  printf '{"calls": %s, "results": %s, "ok": %s, "error": %s, "duration_ms": %s}' \
    "$lines_in" "$lines_out" "$results_ok" "$results_error" "$calls_ms"
}

# has_passed TEST: whether the run of the tests in $out says that it ran and passed.
has_passed() {
  grep -qE "^test ([A-Za-z0-9_]+::)*$1 \.\.\. ok\$" "$out"
}

check_acceptance() {
  local start name
  start=$(now_ms)
  status=0
  cargo test --locked --workspace --tests -- "${acceptance[@]}" >"$out" 2>"$err" || status=$?
  acceptance_ms=$(($(now_ms) - start))
  check "the acceptance tests end with 0" test "$status" -eq 0
  if [[ $status -ne 0 ]]; then tail -n 40 "$err" "$out"; fi
  acceptance_passed=0
  for name in "${acceptance[@]}"; do
    check "test $name" has_passed "$name"
    if has_passed "$name"; then acceptance_passed=$((acceptance_passed + 1)); fi
  done
}

write_scorecard() {
  mkdir -p artifacts
  cat >artifacts/sandbox_smoke.json <<JSON
{
  "version": "$version",
  "finished": "$(date -u +%Y-%m-%dT%H:%M:%SZ)",
  "duration_ms": $(($(now_ms) - started)),
  "checks": {"run": $checks, "failed": $failures},
  "help_flags": {"expected": ${#flags[@]}, "found": $flags_found},
  "operator_errors": {"tried": 2, "refused": $operator_errors},
  "first_command": $first_score,
  "recorded_calls": $recorded_score,
  "acceptance_tests": {
    "expected": ${#acceptance[@]},
    "passed": $acceptance_passed,
    "duration_ms": $acceptance_ms
  }
}
JSON
}

started=$(now_ms)
cargo build --quiet --release --locked -p cli
readonly remit=${CARGO_TARGET_DIR:-target}/release/remit
version=$("$remit" --version)
check "--version says which" test -n "$version"
check_help
check_operator_errors
check_first_command
check_recorded_calls
check_acceptance
write_scorecard
printf '%s: %s checks, %s failed; artifacts/sandbox_smoke.json\n' "$version" "$checks" "$failures"
test "$failures" -eq 0
