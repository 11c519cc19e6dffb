#!/usr/bin/env bash
# test.sh DRAGOMAN_PROGRAM
# Builds and installs the headers' package, and builds tests and examples with each compiler; runs all of them against
# labs that they start and stop. Leaves nothing behind but its output.
#
#   COMPILERS="g++ clang++"     those to build with
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
DRAGOMAN_PROGRAM=$(realpath "${1:?usage: test.sh DRAGOMAN_PROGRAM}")
export DRAGOMAN_PROGRAM
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
read -ra compilers <<<"${COMPILERS:-g++ clang++}"
for compiler in "${compilers[@]}"; do
    echo "test.sh: build with $compiler"
    folder=$work/$compiler
    cmake -S "$here" -B "$folder" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS=-O1 \
        -DCMAKE_INSTALL_PREFIX="$folder/installed" -DDRAGOMAN_CLIENTS_TESTS=ON >"$work/log"
    cmake --build "$folder" -j 2 >"$work/log" || { cat "$work/log"; exit 1; }
    cmake --install "$folder" >"$work/log"
    cmake -S "$here/examples" -B "$folder/examples" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS=-O1 \
        -DCMAKE_PREFIX_PATH="$folder/installed" >"$work/log"
    cmake --build "$folder/examples" -j 2 >"$work/log" || { cat "$work/log"; exit 1; }
done
# They mostly wait for robots: all at once.
running=()
for compiler in "${compilers[@]}"; do
    python3 "$here/../tests/run.py" cpp "$work/$compiler" >"$work/$compiler.log" 2>&1 &
    running+=($!)
done
failed=0
for place in "${!compilers[@]}"; do
    wait "${running[place]}" || failed=1
    echo "test.sh: programs of ${compilers[place]}"
    cat "$work/${compilers[place]}.log"
done
[ "$failed" = 0 ]
echo "test.sh: passed"
