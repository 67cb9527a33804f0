# Steps with progress and a summary, for the scripts beside it.
#
#   step "name" command...     runs a command, shows its output, records its result and duration
#   left_out "name"            records that a step is not run
#   summary                    prints one line per step and the errors of failed steps; succeeds if all succeeded
#
# Before the first step, set `steps` to their number, and `logs` to a directory for the output.

steps=0
logs=
_done=0
_lines=()
_told=()
_passed=0
_failed=0
_left=0

step() {
    local name=$1 started status log
    shift
    log=$logs/${name//[^A-Za-z0-9]/-}.log
    _done=$((_done + 1))
    started=$SECONDS
    printf '\n=== [%d/%d] %s\n' "$_done" "$steps" "$name"
    # In a subshell, so that the first failing command ends the step and only the step. Bash ignores this inside `if`
    # and `||`: call `step` as a plain command.
    (set -eo pipefail; "$@") 2>&1 </dev/null | tee "$log"
    if [ "${PIPESTATUS[0]}" -eq 0 ]; then
        status=ok
        _passed=$((_passed + 1))
    else
        status=FAILED
        _told+=("$log")
        _failed=$((_failed + 1))
    fi
    printf '=== [%d/%d] %s: %s, %d s\n' "$_done" "$steps" "$name" "$status" $((SECONDS - started))
    _lines+=("$(printf '%-7s %5d s  %s' "$status" $((SECONDS - started)) "$name")")
    [ "$status" = ok ]
}

left_out() {
    _left=$((_left + 1))
    _lines+=("$(printf '%-7s %7s  %s' "not run" "" "$1")")
}

# Few enough lines of a log for the end of a long output: the first ones that a test runner or sanitizer prints for a
# failure, or else the last ones that mention an error; then the last lines of all. Programs under test print errors too,
# which are expected, so such lines count only where no runner reports a failure.
failures() {
    local runners='✘ |failed with status|^FAILED |^ERROR |\*\*\*|WARNING: [A-Za-z]+Sanitizer|ERROR: [A-Za-z]+Sanitizer|SUMMARY: |Fatal error'
    grep -anE "$runners" "$1" | head -n 12 | grep . ||
        grep -anE '[Ff]ailed|FAILED|[Ee]rror: |ERROR|WARNING: |Traceback|Timeout|: warning: ' "$1" | tail -n 6
    echo "..."
    tail -n 3 "$1"
}

summary() {
    local log
    printf '\n=== summary\n'
    printf '%s\n' "${_lines[@]}"
    echo "what each step printed: $logs"
    for log in "${_told[@]}"; do
        echo "--- ${log##*/}"
        failures "$log" | cut -c 1-160
    done
    echo "$_passed passed, $_failed failed$([ "$_left" -eq 0 ] || echo ", $_left not run for lack of time")"
    [ "$_failed" -eq 0 ]
}
