# What several scripts do to the machine and the tree. The caller has set `root`.
#
#   retry COMMAND...                  runs a command that reaches the network; a failure is tried again twice
#   environment PATH REQUIREMENTS     a virtual environment with exactly these packages from PyPI
#   drop_foreign_builds               removes what was built when the tree was somewhere else
#   drop_stale_objects                removes objects that were compiled with other headers than those of now
#   library                           builds the library and the tool as they are installed, in build/

retry() {
    local pause
    for pause in 3 15; do
        "$@" && return
        echo "'$*' failed; it is tried again in $pause s" >&2
        sleep "$pause"
    done
    "$@"
}

environment() {
    local path=$1 requirements=$2
    [ -x "$path/bin/python" ] || python3 -m venv "$path" || return
    cmp -s "$requirements" "$path/requirements.txt" && return
    retry "$path/bin/python" -m pip install -q --disable-pip-version-check -r "$requirements" || return
    cp "$requirements" "$path/requirements.txt"
}

# CMake, SwiftPM and venv write absolute paths. In a copied or moved tree they would build into the original.
drop_foreign_builds() {
    local cache=build/CMakeCache.txt home directory
    if [ -f "$cache" ]; then
        home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$cache")
        [ "$(realpath -m "$home")" = "$root" ] || _drop build
    fi
    for directory in .build .build-* Examples/synth/.build; do
        _is_of "$directory" "$directory/debug.yaml" && _is_of "$directory" "$directory/release.yaml" || _drop "$directory"
    done
    for directory in .venv-test .build-bench/venv Examples/synth/.venv; do
        _is_of "$directory" "$directory/bin/pip" || _drop "$directory"
    done
}

# SwiftPM does not detect changes in headers of system library targets, and links objects with different layouts.
drop_stale_objects() {
    local headers directory
    headers=$(find include Sources -name '*.h' -print0 | sort -z | xargs -0 sha256sum | sha256sum)
    [ "$headers" = "$(cat .build/headers 2>/dev/null)" ] && return
    for directory in .build .build-* build/swift Examples/synth/.build; do
        [ -f "$directory/debug.yaml" ] || [ -f "$directory/release.yaml" ] || continue
        echo "$directory was built with other headers; what it has built is removed"
        # All of it: SwiftPM does not rewrite files that it has recorded as written.
        rm -rf "$directory"/*/debug "$directory"/*/release "$directory"/{debug,release} "$directory"/{debug,release}.yaml
    done
    mkdir -p .build
    echo "$headers" >.build/headers
}

_is_of() { [ ! -f "$2" ] || grep -qF "$root/$1/" "$2"; }

_drop() {
    echo "$1 was built in another place; removing it"
    rm -rf "$1"
}

library() {
    cmake -S . -B build -G Ninja && cmake --build build
}
