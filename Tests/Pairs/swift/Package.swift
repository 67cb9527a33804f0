// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "pairs",
    products: [
        .library(name: "PairsModule", type: .dynamic, targets: ["PairsModule"]),
        .library(name: "PairsDriver", type: .dynamic, targets: ["PairsDriver"]),
        .executable(name: "PairsHost", targets: ["PairsHost"]),
    ],
    dependencies: [.package(name: "invivo", path: "../../..")],
    targets: [
        .target(
            name: "PairsModule", dependencies: [.product(name: "InvivoModule", package: "invivo")],
            linkerSettings: [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "nodelete"])]),
        .target(
            name: "PairsDriver", dependencies: [.product(name: "InvivoModule", package: "invivo")],
            linkerSettings: [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "nodelete"])]),
        .executableTarget(name: "PairsHost", dependencies: [.product(name: "Invivo", package: "invivo")]),
    ],
    swiftLanguageModes: [.v6]
)
