#!/usr/bin/env bash
# Tests of the example: the render callback takes no lock, allocates nothing and makes no system call during reloads,
# and each language hosts it. The tour is `scripts/run --tour`.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
cd "$here"
export PYTHONPATH=$root/bindings/python
passed=0
failed=0
log=$(mktemp)
before=$(cat tuning.yaml)
trap 'printf "%s\n" "$before" > tuning.yaml; rm -f "$log"' EXIT

check() { # name, and the expected text of the log
    if grep -Eq "$2" "$log" && ! grep -q "^exit status" "$log"; then
        passed=$((passed + 1))
        echo "ok: $1"
    else
        failed=$((failed + 1))
        echo "FAILED: $1: expected '$2', and no exit status, in:"
        cat "$log"
    fi
}

# Runs a host while tuning.yaml is saved repeatedly, each time with another gain.
hosted() {
    "$@" >"$log" 2>&1 &
    local program=$! gain=1
    while kill -0 "$program" 2>/dev/null; do
        gain=$(((gain + 1) % 9))
        # By rename: a host that starts at this moment must not find an empty file.
        sed "s/gain: 0.5/gain: 0.${gain}1/" <<<"$before" >.tuning.new && mv .tuning.new tuning.yaml
        sleep 0.1
    done
    wait "$program" || echo "exit status $?" >>"$log"
    printf '%s\n' "$before" >.tuning.new && mv .tuning.new tuning.yaml
}

[ "${1:-}" = --built ] || { (cd "$root" && swift build --product InvivoC) && ./build.sh hosts; }

LD_PRELOAD=$here/build/watch.so hosted timeout 60 build/host 4
check "the render callback takes no lock, allocates nothing, makes no system call" \
    "watch: [0-9]{3,} callbacks, 0 locks, 0 allocations, 0 system calls$"
check "the C host hears edits" "generation [0-9]+: .*synth.lead.gain tuned"
SYNTH_WATCH_SPOIL=1 LD_PRELOAD=$here/build/watch.so hosted timeout 60 build/host 1
check "the counters see locks, allocations and system calls" \
    "watch: [0-9]+ callbacks, [1-9][0-9]* locks, [1-9][0-9]* allocations, [1-9][0-9]* system calls$"
hosted timeout 60 build/synth-host 2
check "the Swift host hears edits" "generation [0-9]+: .*synth.lead.gain tuned"
hosted timeout 60 python3 host.py 2
check "the Python host hears edits" "generation [0-9]+: .*synth.lead.gain tuned"
for host in c swift synth; do
    [ "$(stat -c %s "output/$host.wav")" -gt 100000 ] && passed=$((passed + 1)) || { failed=$((failed + 1)); echo "FAILED: $host.wav is too short"; }
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
