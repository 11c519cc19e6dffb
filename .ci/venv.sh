#!/usr/bin/env bash
# venv.sh FOLDER PACKAGE...: a virtual environment with exactly these packages; made anew when the list changes.
set -euo pipefail
folder=$1 wanted="${*:2}"
if [ "$(cat "$folder/wanted" 2>/dev/null)" != "$wanted" ]; then
    "$(dirname "${BASH_SOURCE[0]}")/packages.sh" python3.11-venv
    rm -rf "$folder"
    /usr/bin/python3.11 -m venv "$folder"
    "$folder/bin/pip" install -q --disable-pip-version-check "${@:2}"
    echo "$wanted" >"$folder/wanted"
fi
