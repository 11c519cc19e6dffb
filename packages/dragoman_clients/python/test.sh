#!/usr/bin/env bash
# test.sh DRAGOMAN_PROGRAM
# Builds the wheel, installs it into an empty environment, checks types and style, runs all tests against labs that they
# start and stop, and the first example of the README. Leaves nothing behind but its output.
#
#   PYTHON=python3.11           the interpreter that builds, checks and tests
#   PYTHONS="python3.9 ..."     further interpreters, for the tests that need no lab
#   TOOLS=FOLDER                keep the environment of build, mypy and ruff there
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$(realpath "${1:?usage: test.sh DRAGOMAN_PROGRAM}")
python=${PYTHON:-python3}
work=$(mktemp -d)
lab=
finish() {
    if [ -n "$lab" ]; then
        kill "$lab" 2>/dev/null || true
        wait "$lab" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
say() { echo "test.sh: $*"; }

# environment INTERPRETER FOLDER: a virtual environment with nothing but pip. Python's own venv hides what ensurepip says when it
# fails; it did once, for no reason that was seen.
environment() {
    local attempt
    for attempt in first second; do
        rm -rf "$2"
        "$1" -m venv --without-pip "$2"
        if "$2/bin/python" -m ensurepip --default-pip >"$2.log" 2>&1; then return; fi
        say "the $attempt attempt to install pip into $2 failed:"
        cat "$2.log"
        df -h "$work"
    done
    return 1
}

say "tools"
tools=${TOOLS:-$work/tools}
[ -x "$tools/bin/ruff" ] || environment "$python" "$tools"
"$tools/bin/pip" install -q --disable-pip-version-check build "mypy==2.4.*" "ruff==0.17.*"

say "wheel"
cp -r "$here" "$work/source"
"$tools/bin/python" -m build --outdir "$work/dist" "$work/source" >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
wheel=$(echo "$work"/dist/*.whl)

say "types and style"
(cd "$here" && "$tools/bin/mypy" --cache-dir "$work/mypy" dragoman_clients tests examples)
for version in 3.10 3.13; do
    (cd "$here" && "$tools/bin/mypy" --cache-dir "$work/mypy" --python-version "$version" dragoman_clients)
done
(cd "$here" && "$tools/bin/ruff" check --no-cache . && "$tools/bin/ruff" format --no-cache --check .)
# The tests of the clients in other languages.
(cd "$here/../tests" && MYPYPATH=$here "$tools/bin/mypy" --strict --cache-dir "$work/mypy" run.py &&
    "$tools/bin/ruff" check --no-cache --config "$here/pyproject.toml" . &&
    "$tools/bin/ruff" format --no-cache --check --config "$here/pyproject.toml" .)

# The tests see the installed package only.
mkdir "$work/run"
cp -r "$here/tests" "$here/examples" "$work/run"
export DRAGOMAN_REPOSITORY=${DRAGOMAN_REPOSITORY:-$(realpath "$here/../../..")}
cd "$work/run"

without_lab() {
    local folder
    folder=$work/env-$(basename "$1")
    environment "$1" "$folder"
    "$folder/bin/pip" install -q --disable-pip-version-check --no-index "$wheel"
    DRAGOMAN_PROGRAM='' "$folder/bin/python" -m unittest -b
    rm -rf "$folder"
}
# They mostly wait: all at once.
read -ra pythons <<<"${PYTHONS:-}"
running=()
for place in "${!pythons[@]}"; do
    (without_lab "${pythons[place]}") >"$work/without-$place.log" 2>&1 &
    running+=($!)
done
failed=0
for place in "${!pythons[@]}"; do
    wait "${running[place]}" || failed=1
    say "$("${pythons[place]}" --version), without a lab"
    cat "$work/without-$place.log"
done
[ "$failed" = 0 ] || exit 1

say "an empty environment"
environment "$python" "$work/env"
"$work/env/bin/pip" install -q --disable-pip-version-check --no-index "$wheel"
installed=$("$work/env/bin/pip" list --disable-pip-version-check --format freeze | grep -cv '^\(pip\|setuptools\|wheel\)=')
[ "$installed" = 1 ] || { echo "the wheel is not the only package"; exit 1; }
[ -e "$(echo "$work"/env/lib/*/site-packages/dragoman_clients/py.typed)" ] || { echo "py.typed is missing"; exit 1; }

say "tests with a lab"
DRAGOMAN_PROGRAM=$program "$work/env/bin/python" -W error::ResourceWarning -m unittest

say "the README's first example"
read -r apolo first second arm player domain < <("$work/env/bin/python" - <<'PORTS'
import socket
from tests.support import free_domain
held = [socket.create_server(("127.0.0.1", 0)) for _ in range(5)]
print(*[one.getsockname()[1] for one in held], free_domain())
PORTS
)
# The tests' reservation of the domain ends with their process, a moment after its line.
exec 9>>"${TMPDIR:-/tmp}/dragoman-test-domain-$domain"
flock -w 10 9 || { echo "domain $domain is taken"; exit 1; }
XDG_DATA_HOME=$work/data ROS_DOMAIN_ID=$domain ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST \
    "$program" up --console off --ros-args -p "apolo:port:=$apolo" -p "neobotix:ports:=[$first,$second]" -p "arm31:port:=$arm" \
    -p "player:port:=$player" >"$work/lab.log" 2>&1 &
lab=$!
for _ in $(seq 300); do
    if grep -q '^ready' "$work/lab.log"; then break; fi
    kill -0 "$lab" 2>/dev/null || { cat "$work/lab.log"; exit 1; }
    sleep 0.2
done
# The first block of Python, and the block of text after it: what it prints.
block() { awk -v start="\`\`\`$1" '$0 == "```" && inside { exit } inside { print } $0 == start { inside = 1 }' "$here/README.md"; }
block python | sed "s/12000/$apolo/" >"$work/example.py"
"$work/env/bin/python" "$work/example.py" | tee "$work/printed"
diff <(block text) "$work/printed"

say "passed"
