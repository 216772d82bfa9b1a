# The test run: stages in order, each a function stage_NAME, and their totals. Sourced by ci/run.
# A stage counts through check, gtest_run and pytest_run; ci/tally.py sums what they leave behind.

all_stages=(lint build symbols core python preload emulated clang riscv64 arm64 sanitized tidy)
results=$root/build/test-results

# check NAME COMMAND...: one test that passes when the command does.
check() {
  local name=$1 status=pass
  shift
  "$@" || status=fail
  printf '%s\t%s\n' "$status" "$name" >>"$results/checks.tsv"
  [ $status = pass ] || say "FAILED: $name"
}

skip() {
  printf 'skip\t%s: %s\n' "$1" "$2" >>"$results/checks.tsv"
  say "skipped: $1: $2"
}

# check_or_skip NAME WHY COMMAND...: status 77 says that the command has nothing to test here.
check_or_skip() {
  local name=$1 why=$2 status=0
  shift 2
  "$@" || status=$?
  if [ $status -eq 77 ]; then skip "$name" "$why"; else check "$name" [ $status -eq 0 ]; fi
}

# A test program that stops half-way leaves no result file: a check of its own says that it ended well.
gtest_run() {
  local name=$1
  shift
  check "$name ran to its end" ended_well "$name" "$@" --gtest_brief=1 \
    --gtest_output="xml:$results/$name.xml"
}

pytest_run() {
  local name=$1
  shift
  check "$name ran to its end" ended_well "$name" "$@" --junitxml="$results/$name.xml"
}

# Status 1 is failed tests, which the result file counts.
ended_well() {
  local name=$1 status=0
  shift
  "$@" || status=$?
  [ $status -le 1 ] && [ -s "$results/$name.xml" ]
}

stage_lint() {
  local name
  cd "$root"
  for name in includes names limits coverage; do
    check "ci/check_$name.py" python3 "ci/check_$name.py"
  done
  check "shell syntax" bash -n ci/run .ci/run ci/*.sh
  local sources
  mapfile -t sources < <(git ls-files '*.cpp' '*.h' '*.c')
  check "clang-format" clang-format-19 --dry-run -Werror "${sources[@]}"
}

stage_build() { check "build" ninja_build "$build"; }

stage_symbols() { check "ci/check_symbols.py" python3 "$root/ci/check_symbols.py" "$build"; }

stage_core() {
  gtest_run core "$build/tests/core_test"
  check_or_skip "AMX permission" "needs AVX2 for the emulator" "$build/tests/amx/amx_permission"
}

# Operators under the preload shim, as a user has them.
with_tenon() {
  local plugin
  plugin=$(ls "$build"/libtenon_aten.*.so)
  TENON_ATEN_LIB=$plugin "$build/tenon" run "$@"
}

stage_python() {
  pytest_run python with_tenon "$python" -m pytest -q -p no:cacheprovider "$root/tests/python"
  if grep -qw avx512f /proc/cpuinfo; then
    TENON_ISA=avx2 pytest_run python-avx2 with_tenon "$python" -m pytest -q -p no:cacheprovider \
      --ignore "$root/tests/python/test_op_db.py" "$root/tests/python"
  fi
}

stage_preload() {
  pytest_run preload "$python" -m pytest -q -p no:cacheprovider "$root/tests/preload" --build "$build"
}

# Old CPUs: an instruction that one lacks ends the program with SIGILL. Emulation is 30 times slower,
# so the longest tests are left to the native run.
stage_emulated() {
  local cpu
  for cpu in Nehalem Haswell Skylake-Server; do
    emulated_on "$cpu" &
  done
  wait
}

emulated_on() {
  TENON_ISA=-amx gtest_run "core-$1" qemu-x86_64 -cpu "$1" "$build/tests/core_test" \
    --gtest_filter='-Amx*:*amx_shim*:RunGemm.*:Table/TileMm*'
  check "tenon info on $1" quiet qemu-x86_64 -cpu "$1" "$build/tenon" info
  check "the shim on $1" quiet qemu-x86_64 -cpu "$1" -E LD_PRELOAD="$build/libtenon.so" \
    "$(type -P true)"
}

quiet() { "$@" >/dev/null; }

# A second compiler builds everything without a warning and gives the same results.
stage_clang() {
  local clang
  clang=$(newest clang)
  check "build with $clang" env_build "$build-clang" "$clang"
  gtest_run core-clang "$build-clang/tests/core_test"
  build=$build-clang pytest_run python-clang with_tenon "$python" -m pytest -q -p no:cacheprovider \
    --ignore "$root/tests/python/test_op_db.py" "$root/tests/python"
}

env_build() (
  export CC=$2 CXX=${2/clang/clang++}
  build_in "$1" -DTENON_BENCH=ON
)

# Address and undefined for the core and all its tests, thread for dispatch/.
stage_sanitized() {
  check "build with address and undefined sanitizers" sanitized_build asan address,undefined core_test
  ASAN_OPTIONS=detect_leaks=0:allow_addr2line=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
    gtest_run core-asan "$build-asan/tests/core_test"
  check "build with thread sanitizer" sanitized_build tsan thread dispatch_test
  TSAN_OPTIONS=allow_addr2line=1 gtest_run dispatch-tsan "$build-tsan/tests/dispatch_test"
}

# sanitized_build NAME SANITIZERS TARGET, by clang, which instruments several times faster than GCC.
sanitized_build() (
  local clang options
  clang=$(newest clang)
  export CC=$clang CXX=${clang/clang/clang++}
  mapfile -t options < <(launcher_options)
  configure "$build-$1" -DTENON_ATEN=OFF -DTENON_BENCH=OFF -DTENON_SANITIZE="$2" "${options[@]}"
  ninja_build "$build-$1" "$3"
)

# The core's sources that this machine compiles.
stage_tidy() {
  local source sources=()
  cd "$root"
  for source in $(git ls-files 'dispatch/*.cpp' 'isa/*.cpp'); do
    if grep -q "/$source\"" "$build/compile_commands.json"; then sources+=("$source"); fi
  done
  check "clang-tidy" tidy "${sources[@]}"
}

# The build has warning options of GCC's that clang-tidy does not know.
tidy() {
  printf '%s\0' "$@" | xargs -0 -n 1 -P "$jobs" \
    clang-tidy-19 --quiet -p "$build" --extra-arg=-Wno-unknown-warning-option
}

# test_all [STAGE...]: these stages, or all, then the totals.
test_all() {
  local stages=("$@") stage start=$SECONDS
  [ $# -gt 0 ] || stages=("${all_stages[@]}")
  for stage in "${stages[@]}"; do
    declare -F "stage_$stage" >/dev/null || die "test: no stage $stage; there are ${all_stages[*]}"
  done
  lock_build
  rm -rf "$results"
  mkdir -p "$results"
  prepare_tests "${stages[@]}"
  for stage in "${stages[@]}"; do
    say "== $stage (at $(clock $((SECONDS - start))))"
    # A stage that breaks off is a failure of that stage alone.
    (set +e; "stage_$stage") || check "stage $stage" false
  done
  say "== done in $(clock $((SECONDS - start)))"
  python3 "$root/ci/tally.py" "$results"
}

needs_native_build() {
  local stage
  for stage in "$@"; do
    case $stage in lint | riscv64 | arm64) ;; *) return 0 ;; esac
  done
  return 1
}

# What the stages need: packages, the Python environment, the build itself.
prepare_tests() {
  prepare_cross
  needs_native_build "$@" || return 0
  ensure_python weights demo test
  build_in "$build"
}
