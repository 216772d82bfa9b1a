# riscv64 and arm64: cross-built by clang against Debian's LibTorch, tested under QEMU. Sourced.

cross_cpu() { echo "${1/arm64/aarch64}"; }

# cross_build ARCH [TARGET...]: into build/cross-ARCH, by the newest clang.
cross_build() (
  local arch=$1 folder=$root/build/cross-$1 clang options
  shift
  clang=$(newest clang)
  export CC=$clang CXX=${clang/clang/clang++} xsimd_dir=
  ensure_sysroot "$arch"
  mapfile -t options < <(launcher_options)
  configure "$folder" -DCMAKE_TOOLCHAIN_FILE="$root/toolchains/$(cross_cpu "$arch")-clang.cmake" \
    -DTENON_CLANG="${clang#clang-}" -DTENON_SYSROOT="$sysroot" -DTENON_BENCH=OFF "${options[@]}"
  ninja_build "$folder" "$@"
)

# Machines, one a line: its name; the age of QEMU; -cpu; the plan that it has, or -; what `tenon info`
# says of the hardware. Lanes that are agnostic become ones, so a kernel that reads them shows.
riscv64_machines() {
  local ones=rvv_ta_all_1s=true,rvv_ma_all_1s=true
  cat <<TEXT
no-vector new rv64,v=false rv64gc baseline
vlen128 new rv64,v=true,vlen=128,zvbb=true,$ones p670 rvv zvbb, vectors of 128 bits
vlen128-bf16 new rv64,v=true,vlen=128,zvfh=true,zvfbfmin=true,zvfbfwma=true,$ones sg2044 rvv zvfhmin zvfh zvfbfmin zvfbfwma, vectors of 128 bits
vlen256 new rv64,v=true,vlen=256,zvfh=true,$ones k1 rvv zvfhmin zvfh, vectors of 256 bits
vlen256-half new rv64,v=true,vlen=256,zvfh=true,zvfbfmin=true,zvfbfwma=true,zvbb=true,rvv_vl_half_avl=true ascalon rvv zvfhmin zvfh zvfbfmin zvfbfwma zvbb, vectors of 256 bits
vlen512 new rv64,v=true,vlen=512,zvfbfmin=true,zvfhmin=true,zfhmin=true,$ones - rvv zvfhmin zvfbfmin, vectors of 512 bits
vlen1024 new rv64,v=true,vlen=1024,zvfh=true,zvbb=true,$ones k3-a100 rvv zvfhmin zvfh zvbb, vectors of 1024 bits
no-hwprobe old rv64,v=true,vlen=256,vext_spec=v1.0 k1 rvv zvfhmin zvfh, vectors of 256 bits
no-hwprobe-no-vector old rv64,v=false rv64gc baseline
TEXT
}

arm64_machines() {
  cat <<TEXT
cortex-a53 new cortex-a53 cortex-a53 neon
cortex-a76 new cortex-a76 graviton2 neon dotprod fp16
neoverse-v1 new neoverse-v1 graviton3 neon dotprod fp16 fhm i8mm bf16 sve, vectors of 256 bits
neoverse-n2 new neoverse-n2 graviton4 neon dotprod fp16 fhm i8mm bf16 sve sve2, vectors of 128 bits
max new max - neon dotprod fp16 fhm i8mm bf16 sve sve2, vectors of 512 bits
TEXT
}

# Machines on which an unmodified LibTorch program runs under the shim.
with_torch="no-vector vlen256 cortex-a53 neoverse-v1"

# Machines on which every operator of bench/rv's suite runs beside its stock kernel.
with_operators="vlen128 vlen1024"

# Machines that say what they are and no more: another runs the same kernels. QEMU 7.2 asserts at
# vfwcvt.rtz.x.f.v.
told_only="no-hwprobe no-hwprobe-no-vector neoverse-n2"

stage_riscv64() { cross_stage riscv64; }
stage_arm64() { cross_stage arm64; }

cross_stage() {
  local arch=$1 name age cpu plan words
  ensure_sysroot "$arch"
  ensure_qemu
  check "cross-build for $arch" cross_build "$arch"
  check "ci/check_symbols.py for $arch" python3 "$root/ci/check_symbols.py" "$root/build/cross-$arch"
  rm -f "$results/$arch-"*.unrun
  while read -r name age cpu plan words; do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    on_machine "$arch" "$name" "$age" "$cpu" "$plan" "$words" &
  done < <("${arch}_machines")
  wait
  check "every row of $arch runs on some machine" no_row_left "$arch"
}

# under_qemu AGE ARCH CPU COMMAND...; OpenMP's threads wait without spinning.
under_qemu() {
  local folder=$qemu
  [ "$1" = new ] || folder=$qemu_old
  OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive \
    "$folder/qemu-$(cross_cpu "$2")" -L "$sysroot" -cpu "$3" "${@:4}"
}

on_machine() {
  local arch=$1 name=$1-$2 machine=$2 plan=$5 words=$6 folder=$root/build/cross-$1
  local run=(under_qemu "$3" "$arch" "$4") references=0
  check "tenon info on $name says $words" says_hardware "$words" "${run[@]}" "$folder/tenon" info
  [ "$plan" = - ] || check "the plan of $name is that of $plan" has_plan "$plan" "${run[@]}" "$folder/tenon"
  check "the shim on $name" quiet "${run[@]}" -E LD_PRELOAD="$folder/libtenon.so" "$folder/tenon" plan
  [[ " $with_torch " != *" $machine "* ]] ||
    check "a LibTorch program on $name" runs_with_tenon "$words" "${run[@]}" -E LD_PRELOAD="$folder/libtenon.so" \
      -E TENON_VERBOSE=1 -E UCX_HANDLE_ERRORS=none "$folder/tests/libtorch_program" gradients
  [[ " $with_operators " != *" $machine "* ]] ||
    check "operators on $name" agrees_with_stock "${run[@]}" -E LD_PRELOAD="$folder/libtenon.so" \
      -E TENON_VERBOSE=1 -E TENON_CHECK=1 "$folder/bench/rv/rv_operators"
  [[ " $told_only " != *" $machine "* ]] || return 0
  # The first of each architecture's machines has no kernels of its own or the fewest.
  [ "$machine" != "$("${arch}_machines" | sed -n '1s/ .*//p')" ] || references=1
  TENON_TEST_SHARE=8 TENON_TEST_REFERENCES=$references TENON_TEST_ROWS_FILE=$results/$name.unrun \
    gtest_run "core-$name" "${run[@]}" "$folder/tests/core_test"
}

says_hardware() {
  local words=$1
  shift
  [ "$("$@" 2>&1 | sed -n 's/^hardware *//p')" = "$words" ]
}

# The program's own line, Tenon's at exit, and where there is RVV the fast paths that it is about.
runs_with_tenon() {
  local words=$1 output operator
  output=$("${@:2}" 2>&1) && [[ $output == *right* && $output == *"tenon: operator"* ]] || return 1
  [[ $words == rvv* ]] || return 0
  for operator in _convolution native_batch_norm max_pool2d_with_indices avg_pool2d; do
    grep -qE "^tenon: $operator +[1-9]" <<<"$output" || { echo "no fast path: $operator"; return 1; }
  done
}

# Nothing beyond torch.testing's tolerance, no call answered by a reference kernel, and no operator
# all of whose calls fell back. Two differences are stock's own: it sums the gradients of layer_norm's
# bf16 and f16 weights in these types, and rounds attention's weights to bf16.
agrees_with_stock() {
  local output
  output=$("$@" 2>&1) || { tail -n 20 <<<"$output"; return 1; }
  [[ $output == *"check aten::"* ]] || { echo "no operator was checked"; return 1; }
  ! grep -E 'beyond tolerance|-> [a-z0-9_]+_ref$|^tenon: [a-zA-Z0-9_.]+ +0 +[1-9]' <<<"$output" | grep -vE 'native_layer_norm_backward|flash_attention.*BFloat16'
}

has_plan() {
  local plan=$1
  shift
  "$@" plan | cmp - "$root/dispatch/plans/$plan.txt"
}

# Names that the machines' lists of rows not executed all hold.
no_row_left() {
  local lists=("$results/$1-"*.unrun) left
  left=$(cat "${lists[@]}" | sort | uniq -c | awk -v all="${#lists[@]}" '$1 == all { print $2 }')
  [ -z "$left" ] || { printf 'executed on no machine: %s\n' $left; return 1; }
}
