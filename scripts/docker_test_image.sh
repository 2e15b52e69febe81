#!/usr/bin/env bash
# Builds the images of the Docker tests from the Debian packages of this machine, without a registry:
#
#   scripts/docker_test_image.sh [TAG]...
#
# The tags, all of them where none is named; the engine is the one that `docker` finds:
#
#   remit-test:latest      Python's standard library, bash, and the usual small programs
#   remit-test:no-python   the same without Python
#   remit-test:no-bash     the same without bash, sh and what needs them
#   remit-test:figures     the first with matplotlib; left out where this machine does not have it
#
# An image holds the files of some packages and of all that they depend on, read from this machine:
# nothing is downloaded. Documentation and translations are left out. Its variable REMIT_TEST_IMAGE is
# there for tests that look at what a container is given of it.
set -euo pipefail

usual=(coreutils util-linux grep sed findutils mawk procps tar gzip base-files base-passwd libc-bin
  ncurses-base)

stage=$(mktemp -d)
trap 'rm -rf -- "$stage"' EXIT

# closure PACKAGE...: these and all that they depend on, as far as they are installed, without what only
# a compiler needs.
closure() {
  apt-cache depends --recurse --installed --no-recommends --no-suggests --no-conflicts --no-breaks \
    --no-replaces --no-enhances "$@" 2>/dev/null |
    grep -E '^[a-z0-9]' |
    grep -vE '(-dev$|^gcc-[0-9]+$|^g\+\+|^cpp|^binutils|^python3-(scipy|sympy)$|^unicode-data$|^lib[at]san)' |
    sort -u
}

# files PACKAGE...: the paths of their files without a leading slash, in the place where they really are
# on a merged /usr.
files() {
  local path name merged=''
  for name in bin sbin lib lib64; do
    if [[ -L /$name ]]; then merged+="${merged:+|}$name"; fi
  done
  # Names in the closure may be of packages that another one provides.
  { closure "$@" | xargs dpkg-query -L 2>/dev/null || true; } |
    grep -E '^/[^ ]' |
    sed -E "s,^/(${merged:-none})/,/usr/\1/," |
    grep -vE '^/usr/share/(doc|man|locale|info|lintian|bug|help|i18n)(/|$)' |
    sort -u |
    while IFS= read -r path; do
      # The links of a merged /usr are made by themselves.
      if [[ $path == /*/* && (-L $path || -f $path) ]]; then printf '%s\n' "${path#/}"; fi
    done
}

# What is in no package's list: compiled modules, links to chosen alternatives, accounts, places to mount.
prepare() {
  local name
  mkdir -p "$stage/root"/{etc,dev,proc,sys,tmp,run,root,home,var/tmp}
  chmod 1777 "$stage/root"/{tmp,var/tmp}
  for name in bin sbin lib lib64; do
    if [[ -L /$name ]]; then ln -s "usr/$name" "$stage/root/$name"; fi
  done
  printf 'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n' \
    >"$stage/root/etc/passwd"
  printf 'root:x:0:\nnogroup:x:65534:\n' >"$stage/root/etc/group"
  {
    find /etc/alternatives -type l
    find /usr/bin /usr/sbin /usr/lib /usr/lib/*-linux-gnu* -maxdepth 1 -lname '/etc/alternatives/*'
  } | sed 's,^/,,' | sort -u >"$stage/alternatives"
}

# compiled: the compiled modules of the standard library.
compiled() {
  find /usr/lib/python3.* -path '*/__pycache__/*.pyc' | sed 's,^/,,'
}

# load TAG LIST: an image of the files in the list.
load() {
  tar --create --numeric-owner --no-recursion --directory=/ --files-from="$2" \
    --directory="$stage/root" --recursion . |
    docker import --change 'CMD ["bash"]' --change 'ENV PATH=/usr/local/bin:/usr/bin:/bin' \
      --change 'ENV REMIT_TEST_IMAGE=canary' - "remit-test:$1" >/dev/null
  printf 'remit-test:%s\n' "$1"
}

build() {
  case $1 in
    latest) { files python3 bash "${usual[@]}" && compiled && cat "$stage/alternatives"; } ;;
    no-python) { files bash "${usual[@]}" && cat "$stage/alternatives"; } | grep -vE '(^|/)python' ;;
    no-bash) { files python3 "${usual[@]}" && compiled; } | grep -vE '^usr/s?bin/(bash|rbash|sh|dash)$' ;;
    figures)
      { files python3 bash python3-matplotlib "${usual[@]}" && compiled && cat "$stage/alternatives"; }
      ;;
    *)
      echo "there is no image remit-test:$1; the tags are latest, no-python, no-bash, figures" >&2
      return 2
      ;;
  esac | sort -u >"$stage/$1"
  load "$1" "$stage/$1"
}

if ! command -v dpkg-query apt-cache docker >/dev/null; then
  echo "the images are built of Debian's packages, with docker: one of dpkg, apt-cache and docker is missing" >&2
  exit 1
fi
if [[ $# -eq 0 ]]; then
  set -- latest no-python no-bash
  if dpkg-query -W python3-matplotlib >/dev/null 2>&1; then set -- "$@" figures; fi
fi
prepare
for tag in "$@"; do build "$tag"; done
