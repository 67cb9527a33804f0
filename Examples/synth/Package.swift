// swift-tools-version: 6.2
import PackageDescription

// What of the example is Swift: the filter, a module that any host loads, and a host. A program of its own would name the
// package by its address, and its modules and hosts would not sit in one folder.
let others = [
    "app.yaml", "tuning.yaml", "build.sh", "host.c", "host.py", "mixer.c", "oscillator.c", "plot.py", "README.md",
    "requirements.txt", "run",
    "sequencer.py", "test.sh", "tour.py", "watch.c",
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
            // Swift code cannot be unloaded, and may be turned into a module only with all its symbols bound in it.
            linkerSettings: [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "nodelete", "-Xlinker", "-Bsymbolic"])]),
        .executableTarget(
            name: "SynthHost", dependencies: [.product(name: "Invivo", package: "invivo")],
            path: ".", exclude: others + ["stage", "filter", "build", "output"], sources: ["host.swift"]),
    ],
    swiftLanguageModes: [.v6]
)
