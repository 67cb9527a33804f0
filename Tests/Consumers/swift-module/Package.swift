// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "lowpass",
    products: [.library(name: "LowPass", type: .dynamic, targets: ["LowPass"])],
    dependencies: [.package(name: "invivo", path: Context.environment["INVIVO_PACKAGE"] ?? "../../..")],
    targets: [
        .target(
            name: "LowPass", dependencies: [.product(name: "InvivoModule", package: "invivo")],
            // Swift code is never unloaded.
            linkerSettings: [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "nodelete"])])
    ]
)
