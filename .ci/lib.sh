# What the scripts of this folder share.

# Process groups of the step and of what runs beside it. They end with the script.
CURRENT=
declare -A BESIDE
# What each step cost, a line each.
STEPS=
end_all() {
    local group
    for group in $CURRENT "${BESIDE[@]}"; do
        kill -TERM -- "-$group" 2>/dev/null || true
    done
    # Scripts beside end their own steps meanwhile.
    [ -z "$CURRENT${BESIDE[*]}" ] || sleep 3
    for group in $CURRENT "${BESIDE[@]}"; do
        kill -KILL -- "-$group" 2>/dev/null || true
    done
}
trap end_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# beside NAME COMMAND...: starts a command beside the steps; its output goes to a file.
beside() {
    local name=$1
    set -m
    ("${@:2}") </dev/null >"$TOOLS/$name.log" 2>&1 &
    BESIDE[$name]=$!
    set +m
}

# The command, with the processor time that all others leave.
idle() { chrt --idle 0 "$@"; }

# Waits for what `beside` started under this name; shows its output, and returns its status.
join() {
    local name=$1 status=0
    wait "${BESIDE[$name]}" || status=$?
    unset "BESIDE[$name]"
    cat "$TOOLS/$name.log"
    STEPS+="$(printf '%-14s beside others, ended after %d s' "$name" "$SECONDS")"$'\n'
    echo "ci: $name has ended after $SECONDS s, status $status; $(disk) free"
    return "$status"
}

# Runs the function of this name and says how long it took, and how much processor time.
step() {
    local name=$1 began=$SECONDS status=0 used
    used=$(mktemp)
    echo "ci: $name"
    set -m
    (trap 'times >"$used"' EXIT; "$name") </dev/null &
    CURRENT=$!
    set +m
    wait "$CURRENT" || status=$?
    # What it may have left running.
    kill -KILL -- "-$CURRENT" 2>/dev/null || true
    CURRENT=
    STEPS+="$(printf '%-14s %5d s %5d s of a processor' "$name" "$((SECONDS - began))" "$(of_children <"$used")")"$'\n'
    echo "ci: $name took $((SECONDS - began)) s, $(of_children <"$used") s of a processor, status $status; $(disk) free"
    rm "$used"
    return "$status"
}

# The last line of `times`, user and system, in seconds.
of_children() { awk -F'[ms ]+' 'END { print int($1 * 60 + $2 + $3 * 60 + $4) }'; }

# What is left of the disk. A full one looks like any other fault of the program that wanted to write.
disk() { df --block-size=1MB --output=avail . | awk 'END { print $1 " MB of disk" }'; }
