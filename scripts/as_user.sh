#!/usr/bin/env bash
# Runs a program as an ordinary user, for cargo's `runner`: USER PLACE ROOT PROGRAM [ARGUMENT]...
#
# The user gets PLACE/home and PLACE/tmp, a group beside its own as people have, and the directory it is
# started in. ROOT, where the sources and programs are, has to be reachable for that user: where a
# folder above it is closed, the program runs in a mount namespace in which the way to ROOT is open.
# Nothing outside of that namespace is changed.
set -euo pipefail
user=$1 place=$2 root=$3
shift 3

# as_user COMMAND...
as_user() {
  exec setpriv --reuid "$user" --regid "$user" --groups 4242 --inh-caps=-all -- \
    env HOME="$place/home" TMPDIR="$place/tmp" INSTA_UPDATE=no INSTA_WORKSPACE_ROOT="$root" "$@"
}

# is_closed DIRECTORY: whether others may not pass through it.
is_closed() {
  local mode
  mode=$(stat -c %a -- "$1")
  (((8#$mode & 1) == 0))
}

# closed_ancestor PATH: the highest folder on the way to it that is closed, if there is one.
closed_ancestor() {
  local path=$1 found=
  while [[ $path != / ]]; do
    if is_closed "$path"; then found=$path; fi
    path=$(dirname -- "$path")
  done
  echo "$found"
}

if [[ ${REMIT_OPENED:-} != yes ]]; then
  closed=$(closed_ancestor "$root")
  if [[ -n $closed ]]; then
    here=$PWD
    mkdir -p -- "$place/root"
    # The folder is held elsewhere while something else covers the way to it.
    exec unshare --mount --propagation private -- bash -c '
      closed=$1 root=$2 held=$3 here=$4
      shift 4
      mount --bind "$root" "$held"
      mount -t tmpfs -o mode=755 none "$closed"
      mkdir -p -- "$root"
      mount --move "$held" "$root"
      cd -- "$here"
      REMIT_OPENED=yes exec "$@"
    ' bash "$closed" "$root" "$place/root" "$here" "$0" "$user" "$place" "$root" "$@"
  fi
fi
unset REMIT_OPENED
as_user "$@"
