# Configure and build. Sourced by ci/run.

# configure FOLDER OPTION...: runs CMake when its options have changed since the last time; CMake
# itself sees to changes of its own files.
configure() {
  local folder=$1 wanted
  shift
  wanted="${CXX:-g++} ${CC:-gcc} $xsimd_dir $*"
  if [ ! -f "$folder/build.ninja" ] || ! fresh "$folder/.configured" "$wanted"; then
    rm -f "$folder/CMakeCache.txt"
    watch "configure ${folder##*/}" cmake -G Ninja -S "$root" -B "$folder" \
      -DCMAKE_CXX_COMPILER="${CXX:-g++}" -DCMAKE_C_COMPILER="${CC:-gcc}" \
      -DTENON_XSIMD_DIR="$xsimd_dir" "$@" || die "CMake could not configure $folder"
    stamp "$folder/.configured" "$wanted"
  fi
}

launcher_options() {
  command -v ccache >/dev/null || return 0
  printf '%s\n' -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache
}

# Options that make CMake find the torch of build/venv.
torch_options() {
  local folder
  folder=$(torch_of "$python")
  [ -n "$folder" ] || die "build/venv sees no torch; ./ci/run clean, then start again"
  printf '%s\n' "-DPython3_EXECUTABLE=$python"
  if [ -d "${folder#* }/torch/share/cmake" ]; then
    printf '%s\n' "-DCMAKE_PREFIX_PATH=${folder#* }/torch/share/cmake"
  fi
}

ninja_build() {
  local folder=$1
  shift
  NINJA_STATUS="[%f/%t, %es] " ninja -C "$folder" -j "$jobs" "$@" ||
    die "the build in ${folder#"$root"/} failed"
}

# build_in FOLDER [OPTION...]: everything, tests and benches included, against build/venv's torch.
build_in() {
  local folder=$1 options
  shift
  mapfile -t options < <(launcher_options && torch_options)
  configure "$folder" "${options[@]}" "$@"
  ninja_build "$folder"
}

prepare_build() {
  install_packages "${build_packages[@]}"
  ensure_xsimd
}
