# What the scripts of this folder share.

# Children of a step that fails or is interrupted end with it: every step is a process group.
CURRENT=
BESIDE=
end_current() {
    local group
    for group in $CURRENT $BESIDE; do
        kill -TERM -- "-$group" 2>/dev/null || true
        sleep 1
        kill -KILL -- "-$group" 2>/dev/null || true
    done
}
trap end_current EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Starts the function of this name beside the steps, with the processor time that they leave. Its failure does not end the script.
beside() {
    set -m
    (renice -n 19 "$BASHPID" >/dev/null; "$1") </dev/null >"$2" 2>&1 &
    BESIDE=$!
    set +m
}

# Runs the function of this name and says how long it took.
step() {
    local name=$1 began=$SECONDS status=0
    echo "ci: $name"
    set -m
    ("$name") </dev/null &
    CURRENT=$!
    set +m
    wait "$CURRENT" || status=$?
    # What it may have left running.
    kill -KILL -- "-$CURRENT" 2>/dev/null || true
    CURRENT=
    echo "ci: $name took $((SECONDS - began)) s, status $status"
    return "$status"
}
