#!/usr/bin/env bash
# Proves the README on a bare Debian: `ci/chroot.sh trixie [COMMAND...]` makes a minimal root of that
# suite (git and ca-certificates added) from this machine's own mirror, clones HEAD into it, and runs
# the command in the clone (default: ./ci/run demo). Needs root and debootstrap. TENON_CHROOT=DIR keeps the
# root in DIR (default build/chroot/SUITE); remove that folder to start from nothing.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$root/ci/debian.sh"

suite=${1:?usage: ci/chroot.sh SUITE [COMMAND...]}
shift
[ $# -gt 0 ] || set -- ./ci/run demo
target=${TENON_CHROOT:-$root/build/chroot/$suite}
[ "$(id -u)" -eq 0 ] || die "ci/chroot.sh needs root"
command -v debootstrap >/dev/null || die "ci/chroot.sh needs debootstrap: apt-get install debootstrap"

make_root() {
  local mirror
  mirror=$(debian_source | cut -d' ' -f1)
  [ -n "$mirror" ] || die "finds no Debian mirror in this machine's apt sources"
  watch "debootstrap-$suite" debootstrap --variant=minbase --include=git,ca-certificates \
    "$suite" "$target" "$mirror" || die "debootstrap failed: no network?"
  touch "$target/.made"
}

# This machine's pip settings as KEY=VALUE lines.
pip_settings() {
  python3 -m pip config list 2>/dev/null | sed -nE "s/^[a-z:]+\.([a-z-]+)='(.*)'\$/\1=\2/p"
}

# The settings as PIP_KEY=VALUE for the root, local folders and files that they name mounted or
# copied to the same place.
carry_pip() {
  local key value word path
  while IFS='=' read -r key value; do
    key=${key//-/_}
    printf 'export PIP_%s=%q\n' "${key^^}" "$value" >>"$target/etc/tenon-pip.sh"
    for word in $value; do
      path=${word#file://}
      [ "$path" = "$word" ] || path=$(dirname "$path") # an index links to files beside itself
      if [ -d "$path" ]; then
        mkdir -p "$target$path"
        mount --bind -o ro "$path" "$target$path"
      elif [ -f "$path" ] && [ "$path" != "$word" -o "${path:0:1}" = / ]; then
        mkdir -p "$target$(dirname "$path")"
        cp "$path" "$target$path"
      fi
    done
  done < <(pip_settings | sort -u)
}

# In a mount namespace of its own, so that nothing stays mounted whatever ends this script.
enter() {
  mount --make-rprivate /
  mount -t proc proc "$target/proc"
  mount --rbind /dev "$target/dev"
  mount --rbind /sys "$target/sys"
  cp /etc/resolv.conf "$target/etc/resolv.conf"
  : >"$target/etc/tenon-pip.sh"
  carry_pip
  exec env -i HOME=/root TERM="${TERM:-dumb}" LANG=C.UTF-8 \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    chroot "$target" bash -c '
      set -e
      source /etc/tenon-pip.sh
      cd /srv
      [ -d tenon ] || git clone -q origin.git tenon
      cd tenon
      git fetch -q origin HEAD && git reset -q --hard FETCH_HEAD
      exec "$@"' chroot "$@"
}

[ -f "$target/.made" ] || make_root
rm -rf "$target/srv/origin.git"
git clone -q --bare --no-hardlinks "$root" "$target/srv/origin.git"
export -f enter carry_pip pip_settings
export target root
unshare --mount bash -euo pipefail -c 'enter "$@"' enter "$@"
