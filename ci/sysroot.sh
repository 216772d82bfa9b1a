# What cross-building and emulation need beside the compiler: trees of foreign Debian architectures
# with their LibTorch, and QEMU of two ages. Sourced.

sysroot_packages=(base-files libtorch-dev libopenblas0-pthread libsleef-dev libstdc++-14-dev
  libxsimd-dev libgtest-dev libbenchmark-dev libcli11-dev libfmt-dev nlohmann-json3-dev)

# The links of update-alternatives; the pthread build is what a distribution's user has.
link_blas() {
  local library folder
  for folder in "$1"/usr/lib/*-linux-gnu*/openblas-pthread; do
    for library in libblas.so.3 liblapack.so.3 libopenblas.so.0; do
      ln -sfn "openblas-pthread/$library" "$folder/../$library"
    done
  done
}

# ensure_sysroot ARCH [SUITE]: Debian's riscv64, arm64 or amd64 as a folder, $sysroot.
ensure_sysroot() {
  local arch=$1 suite=${2:-trixie}
  sysroot=$cache/sysroot/$suite-$arch
  ensure_debian "sysroot/$suite-$arch" link_blas "$suite" "$arch" "${sysroot_packages[@]}"
}

qemu_major() { "$1" --version 2>/dev/null | sed -nE '1s/.*version ([0-9]+)\..*/\1/p'; }

# ensure_qemu: the folders of QEMU's user-mode programs: $qemu, 10 or later, and $qemu_old, 7.2, whose
# guests see a kernel without riscv_hwprobe. Both are static, from Debian 13 and 12.
ensure_qemu() {
  local arch
  arch=$(dpkg --print-architecture)
  qemu=/usr/bin qemu_old=/usr/bin
  if [ "$(qemu_major qemu-riscv64 || echo 0)" -lt 10 ]; then
    ensure_debian qemu/10 keep_targets trixie "$arch" qemu-user
    qemu=$cache/qemu/10/usr/bin
  fi
  if [ "$(qemu_major qemu-riscv64)" != 7 ]; then
    ensure_debian qemu/7 keep_targets bookworm "$arch" qemu-user-static
    qemu_old=$cache/qemu/7/usr/bin
  fi
}

# Of some forty targets those that ci/ runs, named alike.
keep_targets() {
  local program
  for program in "$1"/usr/bin/*-static; do
    [ ! -f "$program" ] || mv "$program" "${program%-static}"
  done
  find "$1/usr" -type f -not -name qemu-riscv64 -not -name qemu-aarch64 -not -name qemu-x86_64 -delete
}

# QEMU 7.2 for riscv64 that loads plugins: Debian 12's qemu-user is not static.
counting_qemu() {
  local program
  program=$(type -P qemu-riscv64) || true
  if [ -n "$program" ] && [ "$(qemu_major "$program")" = 7 ] &&
    ldd "$program" >/dev/null 2>&1; then
    echo "$program"
    return
  fi
  die "counting instructions needs Debian 12's qemu-user (7.2): later ones are built without plugins"
}
