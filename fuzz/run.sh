#!/usr/bin/env bash
# Fuzz the kernel under sanitizers, each target for so many seconds: fuzz/run.sh SECONDS
#
# Needs a C++ compiler, and nanobind and what the tests need for $PYTHON. Where clang has libFuzzer,
# targets in C++ are guided by what they reach; elsewhere they get blind changes of the seeds. With
# atheris the cases from Python are guided too. What cannot be done here is named. Sizes are small (IDEALIST_SMALL), so that small inputs have many
# blocks; what is found lies in build/fuzz.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:?give the seconds for each target}
python=${PYTHON:-.venv/bin/python} cxx=${CXX:-g++} clang=${CLANG:-clang++}
python=$(command -v "$python")
python=$(cd "$(dirname "$python")" && pwd)/${python##*/}  # CMake takes no relative path
build=$PWD/build/fuzz
small=(-DIDEALIST_SMALL) longest_line=80
core=$(printf '%s\n' native/*/*.cpp | grep -v /binding/)  # the sources that need no Python
mkdir -p "$build"
"$python" fuzz/seeds.py "$build/corpus"

say() { printf 'fuzz: %s\n' "$*"; }

# fuzzes NAME COMMAND...: run it, and show what it said only if it found something
fuzzes() {
  local name=$1 log=$build/$1.log
  shift
  if ! "$@" >"$log" 2>&1; then
    tail -n 60 "$log"
    say "$name found something"
    exit 1
  fi
  say "$name found nothing in $(sed -nE 's/^Done ([0-9]+) runs.*/\1 inputs/p; s/^all +([0-9,]+) cases.*/\1 cases/p' "$log")"
}

has_libfuzzer() {
  "$clang" -x c++ -fsanitize=fuzzer,address - -o "$build/probe" 2>/dev/null \
    <<<'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }'
}

# target NAME SANITIZERS SOURCE [FLAGS...]: compile and run one
target() {
  "$clang" -std=c++20 -O1 -g -fno-omit-frame-pointer -ffp-contract=off -pthread -Inative \
    "${small[@]}" "-fsanitize=fuzzer,$2" -fno-sanitize-recover=all "${@:4}" \
    "fuzz/$3_target.cpp" $core -o "$build/$1"
  mkdir -p "$build/corpus/$3"  # where there are no seeds
  fuzzes "$1" "$build/$1" "-max_total_time=$seconds" -max_len=4096 -timeout=60 \
    "-artifact_prefix=$build/$1-" "$build/corpus/$3"
}

# blind NAMES...: compile and run some without libFuzzer; what they share is compiled once
blind() {
  local compile=("$cxx" -std=c++20 -O1 -g -fno-omit-frame-pointer -ffp-contract=off -pthread
    -Inative "${small[@]}" -fsanitize=address,undefined -fno-sanitize-recover=all)
  mkdir -p "$build/blind"
  for source in $core fuzz/blind.cpp; do
    "${compile[@]}" -c "$source" -o "$build/blind/${source//\//-}.o"
  done
  for name; do
    "${compile[@]}" "fuzz/${name}_target.cpp" "$build"/blind/*.o -o "$build/$name"
    mkdir -p "$build/corpus/$name"  # where there are no seeds
    fuzzes "$name" "$build/$name" "$seconds" "$RANDOM" "$build/corpus/$name" "$build/$name-input"
  done
}

# kernel NAME COMPILER SANITIZERS: compile the module, and name its file
kernel() {
  cmake -S native -B "$build/$1" -DCMAKE_CXX_COMPILER="$2" -DCMAKE_CXX_FLAGS="${small[*]}" \
    -DIDEALIST_SANITIZE="$3" -DPython_EXECUTABLE="$python" >"$build/$1.log" 2>&1 \
    && cmake --build "$build/$1" --parallel >>"$build/$1.log" 2>&1 \
    || { tail -n 30 "$build/$1.log" >&2; return 1; }
  echo "$build/$1"/_kernel*
}

export ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc ARROW_DEFAULT_MEMORY_POOL=system

if has_libfuzzer; then
  for name in text number utf8 arrow qrels; do target "$name" address,undefined "$name"; done
  # Threads race for the counters that guide a fuzzer: this one takes what guided `text` has found.
  target threads thread text -fno-sanitize-coverage=inline-8bit-counters,pc-table,trace-cmp
else
  blind text number utf8 arrow qrels
  say "these were changed blindly; skipped threads: $clang is not here, or has no libFuzzer"
fi

if preload=$("$python" -c 'import atheris; print(atheris.path())' 2>/dev/null) && has_libfuzzer; then
  module=$(kernel guided-kernel "$clang" \
    address,fuzzer-no-link,alignment,bool,bounds,enum,null,pointer-overflow,shift,signed-integer-overflow)
  mkdir -p "$build/corpus/guided"
  fuzzes guided env LD_PRELOAD="$preload/asan_with_fuzzer.so" "$python" fuzz/guided.py "$module" \
    "$build/corpus/guided" "-max_total_time=$seconds" -max_len=4096 -len_control=0 \
    "-artifact_prefix=$build/guided-"
else
  say "skipped guided: that needs clang with libFuzzer, and atheris"
fi

module=$(kernel twins-kernel "$cxx" address,undefined)
fuzzes twins env \
  LD_PRELOAD="$("$cxx" -print-file-name=libasan.so) $("$cxx" -print-file-name=libstdc++.so)" \
  "$python" -W ignore fuzz/twins.py --kernel "$module" --longest-line "$longest_line" \
  --seconds "$seconds" --seed "$RANDOM$RANDOM"
