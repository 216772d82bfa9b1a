# xsimd 13 or later: the system's, the distribution's package, or Debian 13's package unpacked into
# the user's cache (Debian 12's is too old). Sets xsimd_dir, empty for the system's. Sourced.

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
  elif watch "xsimd from Debian 13" fetch_debian "$cache/xsimd" trixie "$(dpkg --print-architecture)" \
    libxsimd-dev && xsimd_is_new "$unpacked"; then
    xsimd_dir=$unpacked
  else
    die "cannot get xsimd 13 or later: install it and set TENON_XSIMD_DIR to its include folder"
  fi
}
