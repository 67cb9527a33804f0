#!/bin/sh
# Builds the modules of the example into build/: build.sh [hosts] (also the hosts in C and Swift).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cd "$here"
mkdir -p build output

for module in oscillator mixer walk; do
    # A module links the stubs, never the library. With an installed copy, use $(pkg-config --cflags invivo).
    cc -std=gnu11 -O2 -Wall -Wextra -fPIC -shared -I "$root/include" -I . "$module.c" "$root/Sources/InvivoStubs/stubs.c" \
        -lm -pthread -o "build/$module.so"
done
swift build --configuration release --product filter
cp "$(swift build --configuration release --show-bin-path)/libfilter.so" build/.libfilter.so
mv build/.libfilter.so build/libfilter.so

if [ "${1:-}" = hosts ]; then
    # Built in the package's own build directory, so that it is not built twice.
    scratch=$root/.build
    library=$(cd "$root" && swift build --show-bin-path)
    cc -std=gnu11 -O2 -Wall -Wextra -I "$root/include" host.c "$library/libInvivoC.so" -Wl,-rpath,"$library" -lm -o build/host
    cc -std=gnu11 -O2 -Wall -Wextra -fPIC -shared watch.c -ldl -o build/watch.so
    swift build --scratch-path "$scratch" --product synth-host
    cp "$library/synth-host" build/synth-host
fi
