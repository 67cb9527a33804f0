import Testing

import Invivo

final class PooledTexture: Sendable {
    let name: String
    init(_ name: String) { self.name = name }
}

@Suite(.tags(.concurrent)) struct PoolTests {
    @Test func anEntryLivesAsLongAsItIsHeld() throws {
        let runtime = try Runtime()
        let pool = try runtime.pool("textures", of: PooledTexture.self)
        var brick: PooledTexture? = try pool.get("brick") { PooledTexture("brick") }
        #expect(brick?.name == "brick")
        #expect(try pool.get("brick") { PooledTexture("other") } === brick)
        #expect(try pool.peek("brick") === brick)
        #expect(try pool.count == 1)
        #expect(try pool.entries.map(\.value.name) == ["brick"])
        brick = nil
        #expect(try pool.peek("brick") == nil)
        #expect(try pool.count == 0)
        brick = try pool.get("brick") { PooledTexture("new") }
        #expect(brick?.name == "new")
        #expect(try runtime.pool(named: "textures", of: PooledTexture.self).peek("brick") === brick)
        #expect(try pool.clear() == 1)
        #expect(try pool.peek("brick") == nil)
        try pool.put(try #require(brick), at: 7)
        #expect(try pool.peek(7) === brick)
        try pool.remove(7)
        #expect(throws: InvivoError.self) { try pool.remove(7) }
        try runtime.close()
    }

    @Test func anErrorOfAFactoryIsThrownToTheCaller() throws {
        struct Missing: Error {}
        let runtime = try Runtime()
        let pool = try runtime.pool(of: PooledTexture.self)
        #expect(throws: InvivoError.self) { _ = try pool.get(1) { throw Missing() } }
        #expect(try pool.count == 0)
        try runtime.close()
    }

    @Test func anEntryIsCreatedOnceForManyThreads() async throws {
        let runtime = try Runtime()
        let pool = try runtime.pool(of: PooledTexture.self)
        let found = try await withThrowingTaskGroup(of: PooledTexture.self) { group in
            for index in 0..<32 { group.addTask { try pool.get(1) { PooledTexture("\(index)") } } }
            var found: [PooledTexture] = []
            for try await texture in group { found.append(texture) }
            return found
        }
        #expect(found.count == 32 && found.allSatisfy { $0 === found[0] })
        try runtime.close()
    }
}

final class PlacedServer: Assembly {
    let request = lazySingleton { PooledTexture("request") }.inScope("request")
    let worker = lazySingleton { PooledTexture("worker") }.perThread()
}

@Suite(.tags(.concurrent)) struct PlacedScopeTests {
    @Test func eachScopeInstanceHasItsOwn() throws {
        let place = Locked<UInt64?>(nil)
        let runtime = try Runtime()
        try runtime.scope("request") { place.withLock { $0 } }
        let server = try runtime.activate(PlacedServer())
        #expect(throws: InvivoError.self) { _ = try server.request() }
        place.withLock { $0 = 1 }
        let first = try server.request()
        #expect(try server.request() === first)
        place.withLock { $0 = 2 }
        #expect(try server.request() !== first)
        try runtime.endScope("request", at: 1)
        place.withLock { $0 = 1 }
        #expect(try server.request() !== first)
        #expect(try server.worker() === server.worker())
        try runtime.close()
    }
}
