#!/usr/bin/env bash
# Runs every fuzz target for $2 seconds. cargo-fuzz is installed into the folder $1.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tools=$1 seconds=$2

if ! "$tools/bin/cargo-fuzz" --version >/dev/null 2>&1; then
    cargo install cargo-fuzz --locked --version 0.13.2 --root "$tools" --target-dir "$tools/install"
fi
# Sanitizers are unstable in the compiler; this lets the stable one have them.
export RUSTC_BOOTSTRAP=1
for manifest in packages/*/fuzz/Cargo.toml; do
    folder=$(dirname "$manifest")
    for source in "$folder"/fuzz_targets/*.rs; do
        target=$(basename "$source" .rs)
        # New inputs go into a folder of their own, and not among those that are kept.
        mkdir -p "$tools/corpus/$target"
        corpora=("$tools/corpus/$target")
        [ -d "$folder/corpus/$target" ] && corpora+=("$folder/corpus/$target")
        echo "ci: fuzz $target for $seconds s"
        (cd "$(dirname "$folder")" && "$tools/bin/cargo-fuzz" run "$target" --target-dir "$tools/fuzz" \
            $(printf -- '%s\n' "${corpora[@]}" | sed "s|^packages/[^/]*/||") -- \
            -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 -print_final_stats=1)
    done
done
