import Foundation
import Invivo

struct Voice {
    var gain = 1.0
}

let directory = FileManager.default.temporaryDirectory.appendingPathComponent("invivo-consumer-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: directory) }
let file = directory.appendingPathComponent("tuning.yaml")

/// Saves like an editor: a new file, renamed over the old one.
func save(gain: Double) throws {
    try Data("traits:\n  synth.lead:\n    - Set: { gain: \(gain) }\n".utf8).write(to: file, options: .atomic)
}

let runtime = try Runtime()
let lead = try runtime.define(Block("synth.lead", Voice()) { $0.field("gain", \.gain, in: 0...2) })
try save(gain: 0.5)
try runtime.watch(file.path)
guard runtime[lead].gain == 0.5 else { fatalError("the document did not take effect: \(runtime[lead].gain)") }
try save(gain: 0.25)
let deadline = Date(timeIntervalSinceNow: 30)
while runtime[lead].gain != 0.25, Date() < deadline { try runtime.poll(timeout: .milliseconds(100)) }
guard runtime[lead].gain == 0.25 else { fatalError("the edit did not take effect: \(runtime[lead].gain)") }
print("the edit is live: gain \(runtime[lead].gain)")
try runtime.close()

// The plugin has written `aKeys`, with a function for each key of the manifest.
let application = try Application(CommandLine.arguments[1], Runtime.Options())
let oscillator: OscillatorHandle = try application.runtime.aKeys.b()
print("the frequency of a.b is \(try oscillator.object.get("frequency", as: Double.self)) Hz")
try application.close()
print("ok")
