// swift-tools-version: 6.2
import PackageDescription

// The Swift parts of the example: the filter, a module for any host, and a host. A real program would refer to the
// package by its URL, and have its modules and hosts in separate packages.
let others = [
    "app.yaml", "tuning.yaml", "build.sh", "host.c", "host.py", "mixer.c", "oscillator.c", "plot.py", "README.md",
    "requirements.txt", "run",
    "sequencer.py", "session.py", "test.sh", "tour.py", "walk.c", "watch.c",
]
let package = Package(
    name: "synth",
    products: [
        .library(name: "filter", type: .dynamic, targets: ["SynthFilter"]),
        .executable(name: "synth-host", targets: ["SynthHost"]),
    ],
    dependencies: [.package(name: "invivo", path: "../..")],
    targets: [
        .systemLibrary(name: "SynthStage", path: "stage"),
        .target(
            name: "SynthFilter", dependencies: ["SynthStage", .product(name: "InvivoModule", package: "invivo")],
            path: "filter",
            // Swift code cannot be unloaded. A module must bind all its symbols.
            linkerSettings: [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "nodelete", "-Xlinker", "-Bsymbolic"])]),
        .executableTarget(
            name: "SynthHost", dependencies: [.product(name: "Invivo", package: "invivo")],
            path: ".", exclude: others + ["stage", "filter", "build", "output"], sources: ["host.swift"]),
    ],
    swiftLanguageModes: [.v6]
)
