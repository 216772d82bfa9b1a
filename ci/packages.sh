# Debian packages: which ones a verb needs, and their installation. Sourced by ci/run.

build_packages=(cmake ninja-build g++ ccache git pkg-config libgtest-dev libbenchmark-dev
  libcli11-dev libfmt-dev nlohmann-json3-dev python3 python3-venv python3-pip)

# The newest release of a versioned package (clang-22, ...) that this Debian offers.
newest() {
  apt-cache pkgnames "$1-" 2>/dev/null | grep -E "^$1-[0-9]+$" | sort -t- -k2 -n | tail -n 1
}

test_packages() {
  local clang
  clang=$(newest clang)
  printf '%s\n' qemu-user valgrind clang-format-19 clang-tidy-19 "${clang:-clang}" "${clang/#clang/llvm}" "${clang/#clang/lld}"
  [ -z "$clang" ] || echo "libclang-rt-${clang#clang-}-dev" # the sanitizers' runtimes
}

# Compilers for other machines, and what else the tests need.
prepare_cross() {
  local packages
  prepare_build
  if [ -z "$(newest clang)" ]; then apt_update; fi
  mapfile -t packages < <(test_packages)
  install_packages "${packages[@]}"
}

missing_packages() {
  local name
  for name in "$@"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$name" 2>/dev/null | grep -qx installed || echo "$name"
  done
}

can_be_root() {
  [ "$(id -u)" -eq 0 ] ||
    { command -v sudo >/dev/null && { sudo -n true 2>/dev/null || { [ -t 0 ] && sudo -v; }; }; }
}

apt_get() {
  local sudo=()
  [ "$(id -u)" -eq 0 ] || sudo=(sudo)
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -q --no-install-recommends "$@"
}

apt_update() {
  [ -z "${apt_updated:-}" ] || return 0
  watch "apt-get update" apt_get update ||
    die "apt-get update failed: check this machine's network and apt sources"
  apt_updated=1
}

# install_packages NAME...: installs those that are missing.
install_packages() {
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null ||
    die "this needs Debian's packages, or their equals, and finds no apt-get: ${missing[*]}"
  can_be_root || die "needs packages; run as root, then start again: apt-get install ${missing[*]}"
  apt_update
  say "installing ${missing[*]}"
  watch "apt-get install" apt_get install "${missing[@]}" ||
    die "apt-get could not install ${missing[*]}: check this machine's network and apt sources"
}
