#!/usr/bin/env bash
# Runs every fuzz target for $2 seconds, as many at a time as there are cores; with 0 only builds them. cargo-fuzz is installed into
# the folder $1.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tools=$1 seconds=$2

if ! "$tools/bin/cargo-fuzz" --version >/dev/null 2>&1; then
    cargo install cargo-fuzz --locked --version 0.13.2 --root "$tools" --target-dir "$tools/install"
fi
# Sanitizers are unstable in the compiler; this lets the stable one have them.
export RUSTC_BOOTSTRAP=1
"$tools/bin/cargo-fuzz" build --target-dir "$tools/fuzz"
[ "$seconds" = 0 ] && exit

run() {
    # New inputs go into a folder of their own, and not among those that are kept.
    mkdir -p "$tools/corpus/$1"
    if "$tools/bin/cargo-fuzz" run "$1" --target-dir "$tools/fuzz" "$tools/corpus/$1" "fuzz/corpus/$1" -- \
        -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 -print_final_stats=1 >"$tools/fuzz_$1.log" 2>&1; then
        echo "ci: fuzz $1: $(sed -n 's|^stat::number_of_executed_units: *||p' "$tools/fuzz_$1.log") inputs"
    else
        cat "$tools/fuzz_$1.log"
        echo "ci: fuzz $1 failed"
        return 1
    fi
}
export -f run
export tools seconds
"$tools/bin/cargo-fuzz" list | xargs -P "$(nproc)" -I{} bash -euo pipefail -c 'run {}'
