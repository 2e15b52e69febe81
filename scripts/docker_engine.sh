#!/usr/bin/env bash
# A Docker engine of one's own, for tests: it touches neither another engine nor the machine's network.
#
#   scripts/docker_engine.sh start FOLDER [OPTION OF dockerd]...
#   scripts/docker_engine.sh resume FOLDER [OPTION OF dockerd]...
#   scripts/docker_engine.sh stop FOLDER
#   scripts/docker_engine.sh kill FOLDER
#
# `start` returns when the engine answers on unix://FOLDER/docker.sock; its log is FOLDER/log. `kill` is a
# SIGKILL to dockerd alone, as a crash would be; `resume` starts it again on the same data. `stop` ends
# all that came of it, containers too, and deletes the folder. All but `stop` of an engine that never ran
# need the superuser. A short path for FOLDER keeps its sockets below the kernel's limit of 108 bytes.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin

# ours: the processes that have a path below the folder as an argument.
ours() {
  local found
  for found in $(grep -lzsE "^(unix://|--[a-z-]+=)?$folder/" /proc/[0-9]*/cmdline); do
    found=${found%/cmdline}
    echo "${found#/proc/}"
  done
}

# dockerd_pid: the engine's process, if it runs.
dockerd_pid() {
  local pid
  pid=$(cat "$folder/pid" 2>/dev/null) || return 0
  if tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -qF -- "--data-root=$folder/data"; then
    echo "$pid"
  fi
}

# lives PID: whether it runs, and is not only waited for.
lives() {
  local state
  state=$(sed -n 's/^State:\t\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null) || return 1
  [[ -n $state && $state != Z ]]
}

answers() {
  timeout 5 docker --host "unix://$folder/docker.sock" version >/dev/null 2>&1
}

run() {
  local started tries name
  mkdir -p "$folder"
  chmod 711 "$folder"
  name=remit-$(basename "$folder")
  # A name of its own for what the engine keeps in containerd, should one run on this machine already.
  setsid dockerd --bridge=none --iptables=false --ip6tables=false --ip-forward=false --ip-masq=false \
    --data-root="$folder/data" --exec-root="$folder/exec" --pidfile="$folder/pid" \
    --host="unix://$folder/docker.sock" --containerd-namespace="$name" \
    --containerd-plugins-namespace="$name-plugins" "$@" >>"$folder/log" 2>&1 </dev/null &
  started=$!
  for ((tries = 0; tries < 300; tries++)); do
    if answers; then return; fi
    if ! lives "$started"; then break; fi
    sleep 0.1
  done
  echo "the engine does not answer; the end of its log:" >&2
  tail -n 15 "$folder/log" >&2
  stop
  return 1
}

kill_it() {
  local pid
  pid=$(dockerd_pid)
  if [[ -n $pid ]]; then
    kill -KILL "$pid"
    while lives "$pid"; do sleep 0.02; done
  fi
  rm -f "$folder/pid"
}

stop() {
  local pid tries all one mount
  pid=$(dockerd_pid)
  if [[ -n $pid ]]; then
    all=$(timeout 10 docker --host "unix://$folder/docker.sock" ps --all --quiet 2>/dev/null || true)
    # shellcheck disable=SC2086
    if [[ -n $all ]]; then
      timeout 60 docker --host "unix://$folder/docker.sock" rm --force $all >/dev/null 2>&1 || true
    fi
    kill -TERM "$pid" 2>/dev/null || true
    for ((tries = 0; tries < 150; tries++)); do
      if ! lives "$pid"; then break; fi
      sleep 0.1
    done
  fi
  # What a crash left behind: containers are children of their shims.
  for one in $(ours); do
    for pid in $(cat "/proc/$one/task/$one/children" 2>/dev/null); do
      if [[ $(cat "/proc/$one/comm" 2>/dev/null) == containerd-shim* ]]; then
        kill -KILL "$pid" 2>/dev/null || true
      fi
    done
    kill -KILL "$one" 2>/dev/null || true
  done
  sed -n "s,^[^ ]* \($folder/[^ ]*\) .*,\1,p" /proc/self/mounts | sort -r | while IFS= read -r mount; do
    umount --lazy -- "$mount" 2>/dev/null || true
  done
  rm -rf -- "$folder"
}

usage() {
  sed -n '4,7s/^# *//p' "$0" >&2
  exit 2
}

if [[ $# -lt 2 ]]; then usage; fi
command=$1 folder=$2
shift 2
if [[ $folder != /*/* ]]; then
  echo "the folder has to be an absolute path below another folder, not $folder" >&2
  exit 2
fi
case $command in
  start | resume) run "$@" ;;
  kill) kill_it ;;
  stop) stop ;;
  *) usage ;;
esac
