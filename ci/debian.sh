# Debian packages unpacked into a folder of the user's cache, of any suite and architecture: nothing
# is installed, no script of a package runs, and root is not needed. Sourced.

# The mirror and the key file of this machine's Debian sources: "URI [KEYRING]".
debian_source() {
  local codename
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  {
    # deb822: one stanza a paragraph.
    { cat /etc/apt/sources.list.d/*.sources 2>/dev/null || true; } | awk -v suite="$codename" '
      BEGIN { RS = ""; FS = "\n" }
      { uri = key = ""; found = 0
        for (i = 1; i <= NF; i++) {
          n = split($i, word, " ")
          if (word[1] == "URIs:") uri = word[2]
          if (word[1] == "Signed-By:") key = word[2]
          if (word[1] == "Suites:") for (j = 2; j <= n; j++) found += word[j] == suite }
        if (found) print uri, key }'
    # One line each, with or without [options].
    { cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null || true; } |
      sed -nE 's/^deb +(\[([^]]*)\] +)?([^ ]+) +([^ ]+) +.*/\4 \3 \2/p' |
      awk -v suite="$codename" '$1 == suite {
        key = ""; for (i = 3; i <= NF; i++) if (sub(/^signed-by=/, "", $i)) key = $i
        print $2, key }'
  } | head -n 1
}

# An apt of our own in FOLDER, for one suite and architecture of this machine's mirror, on a machine
# that has no package yet. The system's apt is left alone.
write_apt_conf() {
  local folder=$1 suite=$2 arch=$3 uri key
  read -r uri key < <(debian_source) || true
  if [ -z "${uri:-}" ]; then
    echo "finds no Debian mirror in this machine's apt sources" >&2
    return 1
  fi
  mkdir -p "$folder/parts" "$folder/lists/partial" "$folder/cache/archives/partial"
  : >"$folder/status"
  {
    printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\n' "$uri" "$suite"
    [ -z "${key:-}" ] || printf 'Signed-By: %s\n' "$key"
  } >"$folder/parts/$suite.sources"
  {
    printf 'Dir::Etc::SourceList "/dev/null";\nDir::Etc::SourceParts "%s/parts";\n' "$folder"
    printf 'Dir::State::Lists "%s/lists";\nDir::Cache "%s/cache";\n' "$folder" "$folder"
    printf 'Dir::State::status "%s/status";\nAcquire::Languages "none";\n' "$folder"
    printf 'APT::Architecture "%s";\n#clear APT::Architectures;\nAPT::Architectures "%s";\n' "$arch" "$arch"
    printf 'APT::Sandbox::User "";\nAPT::Install-Recommends "false";\n'
  } >"$folder/apt.conf"
}

# Merged /usr exists before anything is unpacked, and tar keeps its links.
unpack_debs() {
  local tree=$1 folder
  for folder in bin sbin lib; do
    mkdir -p "$tree/usr/$folder"
    ln -s "usr/$folder" "$tree/$folder"
  done
  printf '%s\0' "${@:2}" | xargs -0 -n 1 -P "$jobs" bash -euo pipefail -c \
    'dpkg-deb --fsys-tarfile "$1" | tar -x -C "$0" --keep-directory-symlink --no-same-owner' "$tree"
}

# fetch_debian TREE SUITE ARCH PACKAGE...: these packages and all that they need, unpacked in TREE.
fetch_debian() {
  local tree=$1 suite=$2 arch=$3 new=$1.new apt=$1.new/apt
  shift 3
  rm -rf "$new"
  mkdir -p "$new/tree"
  write_apt_conf "$apt" "$suite" "$arch" &&
    apt-get -q -c "$apt/apt.conf" update &&
    apt-get -q -y -c "$apt/apt.conf" install --download-only "$@" &&
    unpack_debs "$new/tree" "$apt"/cache/archives/*.deb &&
    rm -rf "$tree" && mv "$new/tree" "$tree" && rm -rf "$new"
}

# The first thing that apt found wrong, from the log of `watch NAME`.
apt_error() { sed -n 's/^E: //p' "$logs/${1//[^A-Za-z0-9.+-]/_}.log" | head -n 1; }

# ensure_debian NAME FINISH SUITE ARCH PACKAGE...: the same in the folder NAME of the cache, made anew
# when what is asked for has changed; `FINISH TREE` is what the packages' scripts would have done.
ensure_debian() {
  local name=$1 finish=$2 suite=$3 arch=$4 tree=$cache/$1 wanted="${*:2}"
  shift 4
  mkdir -p "$(dirname "$tree")"
  exec 8>"$cache/.lock" # clones share the cache
  flock 8
  if ! fresh "$tree.made" "$wanted"; then
    rm -f "$tree.made"
    watch "$name" fetch_debian "$tree" "$suite" "$arch" "$@" && "$finish" "$tree" || die "\
cannot make $tree of Debian's suite $suite for $arch: $(apt_error "$name")
Check this machine's network and apt sources; a package with a new name is named in ci/sysroot.sh."
    stamp "$tree.made" "$wanted"
  fi
  exec 8>&-
}
