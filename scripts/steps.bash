# Steps with progress and a summary, for the scripts beside it.
#
#   step "name" command...     runs a command, shows what it prints, notes whether it went well and how long it took
#   summary                    prints one line a step and answers whether all went well
#
# Set `steps` to how many there are before the first, and `logs` to a directory for what each prints.

steps=0
logs=
_done=0
_lines=()
_passed=0
_failed=0

step() {
    local name=$1 started status
    shift
    _done=$((_done + 1))
    started=$SECONDS
    printf '\n=== [%d/%d] %s\n' "$_done" "$steps" "$name"
    # In a subshell of its own, so that the first command that fails ends the step and only the step. Bash forgets that
    # wish inside `if` and `||`: call `step` as a plain command.
    (set -eo pipefail; "$@") 2>&1 </dev/null | tee "$logs/${name//[^A-Za-z0-9]/-}.log"
    if [ "${PIPESTATUS[0]}" -eq 0 ]; then
        status=ok
        _passed=$((_passed + 1))
    else
        status=FAILED
        _failed=$((_failed + 1))
    fi
    printf '=== [%d/%d] %s: %s, %d s\n' "$_done" "$steps" "$name" "$status" $((SECONDS - started))
    _lines+=("$(printf '%-7s %5d s  %s' "$status" $((SECONDS - started)) "$name")")
    [ "$status" = ok ]
}

summary() {
    printf '\n=== summary\n'
    printf '%s\n' "${_lines[@]}"
    echo "what each step printed: $logs"
    echo "$_passed passed, $_failed failed"
    [ "$_failed" -eq 0 ]
}
