# What the scripts of this folder share.

# Children of a step that fails or is interrupted end with it: every step is a process group.
CURRENT=
end_current() {
    if [ -n "$CURRENT" ]; then
        kill -TERM -- "-$CURRENT" 2>/dev/null || true
        sleep 1
        kill -KILL -- "-$CURRENT" 2>/dev/null || true
    fi
}
trap end_current EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

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
