# The Python environment in build/venv: which torch it sees, what else it holds. Sourced by ci/run.

torch_pin=2.13.0
pip_pin=pip==25.3
python=$venv/bin/python
debian_modules=/usr/lib/python3/dist-packages

# "VERSION FOLDER" of the torch that an interpreter has, without importing it; nothing if none.
torch_of() {
  "$1" - <<'PY' 2>/dev/null || true
import importlib.metadata, importlib.util, os
spec = importlib.util.find_spec("torch")
if spec and spec.origin:
    print(importlib.metadata.version("torch"), os.path.dirname(os.path.dirname(spec.origin)))
PY
}

distribution_has_torch() {
  local version
  version=$(apt-cache policy python3-torch 2>/dev/null | sed -n 's/^ *Candidate: //p')
  [ -n "$version" ] && dpkg --compare-versions "$version" ge 2.6
}

# The Python that the user would get, this project's own environment left out.
active_python() {
  local clean=${PATH//"$venv/bin:"/}
  PATH=$clean python3 -c 'import sys; print(sys.executable)' 2>/dev/null ||
    die "finds no working python3: apt-get install python3 python3-venv python3-pip"
}

# The BLAS that Debian recommends for its torch, unless there is one already: the reference
# implementation, which the dependency alone brings, would make stock look slow. The OpenMP build, as
# it takes the number of threads from torch.
distribution_blas() {
  readlink -f /usr/lib/*/libblas.so.3 2>/dev/null | grep -qE 'openblas|blis|atlas|mkl' ||
    echo libopenblas0-openmp
}

# Which torch Tenon serves. Sets base (the interpreter below build/venv), torch_source and active_torch,
# its version and folder. The source is active (that interpreter's own), distribution (python3-torch,
# whether this script installed it or not) or wheel (pip's, put into build/venv).
choose_torch() {
  base=$(active_python) || exit 1
  active_torch=$(torch_of "$base")
  if [ -n "$active_torch" ] && [ "$base ${active_torch#* }" != "/usr/bin/python3 $debian_modules" ]; then
    torch_source=active
  elif [ -n "$active_torch" ] || distribution_has_torch; then
    torch_source=distribution base=/usr/bin/python3
    local blas
    blas=$(distribution_blas)
    install_packages python3-torch ${blas:+"$blas"}
    active_torch=$(torch_of "$base")
  else
    torch_source=wheel
  fi
  # Headers for the torch of a user's environment that sees the distribution's, as well.
  [ "${active_torch#* }" != "$debian_modules" ] || install_packages libtorch-dev
}

make_venv() {
  local options=()
  [ "$torch_source" = wheel ] || options=(--system-site-packages)
  rm -rf "$venv"
  watch "python environment" "$base" -m venv "${options[@]}" "$venv" ||
    die "$base cannot make a virtual environment with pip in it: apt-get install python3-venv," \
      "or put a Python that has venv and pip first in PATH"
  # An environment made from an environment sees the system's packages, not the first one's.
  [ "$torch_source" != active ] ||
    echo "${active_torch#* }" >"$("$python" -c 'import site; print(site.getsitepackages()[0])')/active_torch.pth"
}

pip_install() {
  watch "pip install ($1)" "$python" -m pip install --disable-pip-version-check "${@:2}" ||
    die "pip could not install the $1 packages: no network, or no such version for this Python?"
}

# Whether pip would take a wheel of torch that drags in CUDA, by its metadata alone. (Older pips than
# the pinned one download the wheel to read it.)
wheel_is_cuda() {
  "$python" -m pip install --quiet --dry-run --ignore-installed --no-deps --report "$venv/torch.json" \
    "$@" "torch==$torch_pin" >"$logs/torch-probe.log" 2>&1 || return 1
  "$python" - "$venv/torch.json" <<'PY'
import json, sys
needs = json.load(open(sys.argv[1]))["install"][0]["metadata"].get("requires_dist", [])
sys.exit(not any("nvidia" in need or "cuda" in need for need in needs))
PY
}

install_torch() {
  local index=()
  mkdir -p "$logs"
  [ -z "${TENON_TORCH_INDEX:-}" ] || index=(--index-url "$TENON_TORCH_INDEX")
  pip_install pip "$pip_pin"
  if wheel_is_cuda "${index[@]}"; then
    die "pip would take the CUDA build of torch $torch_pin (several GB, of no use here): set" \
      "TENON_TORCH_INDEX to the index of CPU wheels that PyTorch's install page names, or install" \
      "any torch you like into the active Python, and start again"
  fi
  pip_install "torch $torch_pin" "${index[@]}" "torch==$torch_pin"
}

# ensure_python SET...: build/venv with torch and ci/requirements-SET.txt for each SET.
ensure_python() {
  command -v python3 >/dev/null || install_packages python3 python3-venv python3-pip
  choose_torch
  local wanted="$base $torch_source ${active_torch:-} $torch_pin"
  if ! fresh "$venv/.base" "$wanted" || [ ! -x "$python" ]; then
    make_venv
    [ "$torch_source" != wheel ] || install_torch
    stamp "$venv/.base" "$wanted"
  fi
  local set file sum options
  for set in "$@"; do
    file=$root/ci/requirements-$set.txt
    sum=$(sha256sum <"$file")
    fresh "$venv/.$set" "$sum" && continue
    options=()
    [ "$set" != weights ] || options=(--no-deps)
    pip_install "$set" "${options[@]}" -r "$file"
    stamp "$venv/.$set" "$sum"
  done
}
