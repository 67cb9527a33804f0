// swift-tools-version: 6.2
import PackageDescription

// The plugins build the tool, with swift-argument-parser, unless an installed one is named.
let toolOfPlugins: [Target.Dependency] = Context.environment["INVIVO_TOOL"] == nil ? ["InvivoTool"] : []

// Modules stand in their order: each uses only those above it (scripts/shape checks that). `Invivo` and the bindings know
// only include/ (CInvivo).
let package = Package(
    name: "invivo",
    products: [
        .library(name: "Invivo", targets: ["Invivo", "InvivoABI"]),
        .library(name: "InvivoModule", targets: ["Invivo", "InvivoStubs"]),
        .library(name: "InvivoC", type: .dynamic, targets: ["InvivoABI"]),
        .executable(name: "invivo", targets: ["InvivoTool"]),
        .plugin(name: "InvivoKeys", targets: ["InvivoKeys"]),
        .plugin(name: "InvivoKeysCheck", targets: ["InvivoKeysCheck"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    ],
    targets: [
        .systemLibrary(name: "CInvivo", path: "include"),
        .systemLibrary(name: "CUv", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
        .systemLibrary(name: "CYaml", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .target(name: "CPlatform"),
        .systemLibrary(name: "CSwiftRuntime"),

        .target(name: "InvivoBase", dependencies: ["CInvivo", "CPlatform"]),
        .target(
            name: "InvivoConfig",
            dependencies: ["InvivoBase", .product(name: "HashTreeCollections", package: "swift-collections")]),
        .target(name: "InvivoSpec", dependencies: ["InvivoBase", "CYaml"]),
        .target(name: "InvivoObjects", dependencies: ["InvivoBase", "CPlatform"]),
        .target(name: "InvivoGraph", dependencies: ["CInvivo", "CPlatform", "InvivoBase", "InvivoConfig"]),
        .target(name: "InvivoContexts", dependencies: ["CInvivo", "CPlatform", "InvivoBase", "InvivoGraph"]),
        .target(
            name: "InvivoWiring",
            dependencies: ["InvivoBase", "InvivoObjects", "InvivoConfig", "InvivoGraph", "InvivoContexts"]),
        .target(
            name: "InvivoPools", dependencies: ["CInvivo", "CPlatform", "InvivoBase", "InvivoGraph", "InvivoWiring"]),
        .target(
            name: "InvivoTraits",
            dependencies: [
                "CInvivo", "CPlatform", "InvivoBase", "InvivoGraph", "InvivoObjects", "InvivoSpec", "InvivoWiring",
            ]),
        .target(
            name: "InvivoDescribe",
            dependencies: [
                "CInvivo", "CPlatform", "InvivoBase", "InvivoConfig", "InvivoGraph", "InvivoSpec", "InvivoTraits",
                "InvivoWiring",
            ]),
        .target(name: "InvivoLoop", dependencies: ["InvivoBase", "CUv"]),
        .target(name: "InvivoModules", dependencies: ["CInvivo", "InvivoBase"]),
        .target(
            name: "InvivoReload",
            dependencies: [
                "InvivoBase", "InvivoObjects", "InvivoConfig", "InvivoSpec", "InvivoGraph", "InvivoContexts",
                "InvivoWiring", "InvivoPools",
                "InvivoTraits", "InvivoLoop", "InvivoModules",
                .product(name: "HashTreeCollections", package: "swift-collections"),
            ]),
        .target(
            name: "InvivoApp",
            dependencies: [
                "InvivoConfig", "InvivoContexts", "InvivoDescribe", "InvivoGraph", "InvivoReload", "InvivoSpec",
                "InvivoTraits",
                "InvivoLoop",
            ]),
        .target(
            name: "InvivoTools",
            dependencies: ["CInvivo", "InvivoBase", "InvivoGraph", "InvivoReload", "InvivoSpec", "InvivoTraits"]),
        .target(name: "InvivoTable", dependencies: ["CInvivo"]),
        .target(
            name: "InvivoABI",
            dependencies: [
                "CInvivo", "InvivoApp", "InvivoConfig", "InvivoContexts", "InvivoDescribe", "InvivoGraph",
                "InvivoObjects", "InvivoPools",
                "InvivoReload", "InvivoTable", "InvivoTools",
            ]),
        .target(name: "InvivoStubs", dependencies: ["CInvivo"]),
        .target(name: "Invivo", dependencies: ["CInvivo", "CSwiftRuntime"]),
        .executableTarget(
            name: "InvivoTool",
            dependencies: [
                "Invivo", "InvivoABI", "InvivoSpec",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .plugin(name: "InvivoKeys", capability: .buildTool(), dependencies: toolOfPlugins),
        .plugin(
            name: "InvivoKeysCheck",
            capability: .command(
                intent: .custom(verb: "check-invivo-keys", description: "Checks a file of the keys of a manifest.")),
            dependencies: toolOfPlugins),

        .executableTarget(
            name: "InvivoBenchmarks",
            dependencies: [
                "CInvivo", "CYaml", "Invivo", "InvivoABI", "InvivoBase", "InvivoGraph", "InvivoSpec", "InvivoTraits",
                "InvivoWiring",
            ],
            path: "Benchmarks/swift"),

        .testTarget(name: "InvivoBaseTests", dependencies: ["InvivoBase"]),
        .testTarget(name: "InvivoConfigTests", dependencies: ["InvivoBase", "InvivoConfig"]),
        .testTarget(name: "InvivoGraphTests", dependencies: ["CInvivo", "InvivoBase", "InvivoConfig", "InvivoGraph"]),
        .testTarget(name: "InvivoObjectsTests", dependencies: ["InvivoBase", "InvivoObjects"]),
        .testTarget(name: "InvivoSpecTests", dependencies: ["InvivoSpec"]),
        .testTarget(
            name: "InvivoPoolsTests", dependencies: ["CInvivo", "CPlatform", "InvivoBase", "InvivoPools"]),
        .testTarget(
            name: "InvivoTraitsTests",
            dependencies: [
                "CInvivo", "InvivoBase", "InvivoGraph", "InvivoObjects", "InvivoSpec", "InvivoTraits", "InvivoWiring",
            ]),
        .testTarget(name: "InvivoWiringTests", dependencies: ["InvivoBase", "InvivoObjects", "InvivoWiring"]),
        .testTarget(name: "InvivoLoopTests", dependencies: ["InvivoLoop"]),
        .testTarget(name: "InvivoModulesTests", dependencies: ["CInvivo", "InvivoBase", "InvivoModules"]),
        .testTarget(
            name: "InvivoReloadTests",
            dependencies: [
                "CInvivo", "CPlatform", "InvivoBase", "InvivoConfig", "InvivoGraph", "InvivoLoop", "InvivoObjects",
                "InvivoReload", "InvivoTraits", "InvivoWiring",
            ]),
        .testTarget(
            name: "InvivoDescribeTests",
            dependencies: [
                "CInvivo", "InvivoBase", "InvivoConfig", "InvivoDescribe", "InvivoGraph", "InvivoSpec", "InvivoWiring",
            ]),
        .testTarget(
            name: "InvivoAppTests",
            dependencies: ["CInvivo", "CPlatform", "InvivoApp", "InvivoBase", "InvivoReload", "InvivoWiring"]),
        .testTarget(name: "InvivoToolsTests", dependencies: ["CInvivo", "InvivoBase", "InvivoReload", "InvivoTools"]),
        .testTarget(name: "InvivoTests", dependencies: ["Invivo", "InvivoABI"]),
    ],
    swiftLanguageModes: [.v6]
)
