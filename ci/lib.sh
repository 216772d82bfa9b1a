# Messages, progress and stamps shared by the scripts of ci/. Sourced, never run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/$(uname -m)
venv=$root/build/venv
logs=$root/build/log
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tenon
jobs=${TENON_JOBS:-$(nproc)}

say() { printf 'tenon: %s\n' "$*"; }
die() {
  printf 'tenon: %s\n' "$*" >&2
  exit 1
}

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# watch NAME COMMAND...: runs a long command with its output in build/log/NAME.log, shows how far it
# is (its last line on a terminal, a line every half minute elsewhere), and returns its status.
watch() {
  local name=$1 start=$SECONDS status=0 log
  shift
  log=$logs/${name//[^A-Za-z0-9.+-]/_}.log
  mkdir -p "$logs"
  "$@" >"$log" 2>&1 </dev/null &
  local command=$!
  show_progress "$name" "$log" "$command" &
  local progress=$!
  wait "$command" || status=$?
  kill "$progress" 2>/dev/null || true
  wait "$progress" 2>/dev/null || true
  [ ! -t 1 ] || printf '\r\033[K'
  if [ $status -eq 0 ]; then
    say "$name: done in $(clock $((SECONDS - start)))"
  else
    tail -n 15 "$log" >&2
    say "$name: failed after $(clock $((SECONDS - start))); the whole output is in ${log#"$root"/}" >&2
  fi
  return $status
}

show_progress() {
  local name=$1 log=$2 command=$3 start=$SECONDS line
  [ -t 1 ] || say "$name ..."
  while kill -0 "$command" 2>/dev/null; do
    if [ -t 1 ]; then
      sleep 1 >/dev/null 2>&1
      line=$(tail -c 400 "$log" | tr '\r' '\n' | tail -n 1)
      printf '\r\033[K%s' "$(printf 'tenon: %s, %s: %s' "$name" "$(clock $((SECONDS - start)))" "$line" |
        cut -c "1-$(($(tput cols 2>/dev/null || echo 80) - 1))")"
    else
      sleep 30 >/dev/null 2>&1 # Holding stdout it would keep a pipe's reader waiting.
      say "$name: running for $(clock $((SECONDS - start)))"
    fi
  done
}

# One at a time in a clone: waits for another ./ci/run that builds or tests here.
lock_build() {
  mkdir -p "$root/build"
  exec 9>"$root/build/.lock"
  flock -n 9 && return
  say "waiting for another ./ci/run in this folder"
  flock 9
}
unlock_build() { exec 9>&-; }

# fresh STAMP VALUE: whether the step that wrote STAMP last did so for the same VALUE.
fresh() { [ -f "$1" ] && [ "$(cat "$1")" = "$2" ]; }
stamp() {
  mkdir -p "$(dirname "$1")"
  printf '%s\n' "$2" >"$1"
}
