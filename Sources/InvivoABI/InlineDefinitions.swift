internal import CInvivo
internal import InvivoBase
internal import InvivoGraph
internal import InvivoReload
internal import InvivoWiring

/// Definitions that stand where they are used, gathered while their holder is read.
final class InlineDefinitions {
    private(set) var made: [Definition] = []

    /// What is read of one definition.
    final class Reader {
        private let all: InlineDefinitions
        private let container: Container
        private let owner: String
        /// The runtime arguments of the holder, which what stands in it may use.
        var parameters: Signature?

        init(_ all: InlineDefinitions, container: Container, owner: String) {
            self.all = all
            self.container = container
            self.owner = owner
        }

        /// A definition that stands at `path`, which becomes its key; and what the holder then refers to.
        func reference(
            _ pointer: UnsafePointer<invivo_definition>, at path: String, depth: Int, isOptional: Bool
        ) throws(Failure) -> Injection.Source {
            guard path.utf8.count < 1024, depth < 32 else {
                throw Failure(.tooLarge, "definitions stand in each other too deeply", path: owner)
            }
            let own = try definition(from: pointer, in: container, at: path, inlines: all)
            let passed = own.body.parameters == nil && own.usesArguments ? parameters : nil
            all.made.append(
                own.with { body in
                    body.owner = owner
                    body.parameters = body.parameters ?? passed
                    body.flags.formUnion([.hiddenClass, .hiddenInterface])
                })
            let arguments = (passed?.parameters ?? []).indices.map { Injection.Source.argument($0) }
            return .reference(path, arguments: arguments, isOptional: isOptional)
        }
    }
}

/// An override has nothing inline: what stands in it would have to go with it.
func overriding(_ pointer: UnsafePointer<invivo_definition>?, in container: Container) throws(Failure) -> Definition {
    let inlines = InlineDefinitions()
    var given: Definition?
    do throws(Failure) {
        let definition = try definition(from: pointer, in: container, isOverride: true, inlines: inlines)
        given = definition
        guard inlines.made.isEmpty else {
            throw Failure(
                .argument, "an override has no inline definitions: define them by keys of their own",
                path: definition.key)
        }
        return definition
    } catch {
        given?.disown()
        for each in inlines.made { each.disown() }
        throw error
    }
}

extension Definition {
    /// The host keeps what it gave: the call that was given this fails.
    func disown() { body.keepAlive?.disown() }
}

extension Engine {
    /// Commits what one call was given. When that fails nothing is taken, as by a call that only reads it.
    func commit(_ set: ChangeSet, given: [Definition]) throws(Failure) {
        try keeping(given) { () throws(Failure) in try commit(set) }
    }

    /// The same of anything that commits it.
    func keeping<Result>(_ given: [Definition], _ commit: () throws(Failure) -> Result) throws(Failure) -> Result {
        let disowners = given.compactMap { $0.body.keepAlive?.disowner }
        do throws(Failure) { return try commit() } catch {
            for disown in disowners { disown() }
            throw error
        }
    }
}
