#!/usr/bin/env bash
# Installs those of these Debian packages that are not there.
set -euo pipefail

missing=()
for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
    export DEBIAN_FRONTEND=noninteractive
    # Steps run beside each other.
    exec 9>>"${TMPDIR:-/tmp}/dragoman-ci-packages"
    flock 9
    apt-get update -q
    apt-get install -q -y --no-install-recommends "${missing[@]}"
fi
