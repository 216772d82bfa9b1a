# xsimd 13 or later: the system's, the distribution's package, or Debian 13's package unpacked into
# the user's cache (Debian 12's is too old). Sets xsimd_dir, empty for the system's. Sourced.

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

xsimd_is_new() {
  local header=$1/xsimd/config/xsimd_config.hpp
  [ -f "$header" ] &&
    [ "$(sed -n 's/^#define XSIMD_VERSION_MAJOR \([0-9]*\).*/\1/p' "$header")" -ge 13 ]
}

distribution_has_new_xsimd() {
  local version
  version=$(apt-cache policy libxsimd-dev 2>/dev/null | sed -n 's/^ *Candidate: //p')
  [ -n "$version" ] && dpkg --compare-versions "$version" ge 13
}

# Downloads with an apt of its own: this machine's sources with the suite replaced, lists and cache
# in the user's cache, so that the system's apt is left alone.
fetch_xsimd() {
  local apt=$cache/apt uri key
  read -r uri key < <(debian_source) || true
  [ -n "${uri:-}" ] || return 1
  mkdir -p "$apt/parts" "$apt/lists/partial" "$apt/cache/archives/partial"
  {
    printf 'Types: deb\nURIs: %s\nSuites: trixie\nComponents: main\n' "$uri"
    [ -z "${key:-}" ] || printf 'Signed-By: %s\n' "$key"
  } >"$apt/parts/trixie.sources"
  {
    printf 'Dir::Etc::SourceList "/dev/null";\nDir::Etc::SourceParts "%s/parts";\n' "$apt"
    printf 'Dir::State::Lists "%s/lists";\nDir::Cache "%s/cache";\n' "$apt" "$apt"
    printf 'Acquire::Languages "none";\nAPT::Sandbox::User "";\n'
  } >"$apt/apt.conf"
  apt-get -q -c "$apt/apt.conf" update &&
    (cd "$apt" && apt-get -q -c "$apt/apt.conf" download libxsimd-dev) &&
    dpkg-deb -x "$apt"/libxsimd-dev_*.deb "$cache/xsimd" && rm -rf "$apt"
}

ensure_xsimd() {
  local unpacked=$cache/xsimd/usr/include
  xsimd_dir=${TENON_XSIMD_DIR:-}
  if [ -n "$xsimd_dir" ]; then
    xsimd_is_new "$xsimd_dir" || die "TENON_XSIMD_DIR=$xsimd_dir does not hold xsimd 13 or later"
  elif xsimd_is_new /usr/include; then
    :
  elif xsimd_is_new "$unpacked"; then
    xsimd_dir=$unpacked
  elif distribution_has_new_xsimd; then
    install_packages libxsimd-dev
  elif watch "xsimd from Debian 13" fetch_xsimd && xsimd_is_new "$unpacked"; then
    xsimd_dir=$unpacked
  else
    die "cannot get xsimd 13 or later: install it and set TENON_XSIMD_DIR to its include folder"
  fi
}
