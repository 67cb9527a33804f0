internal import CInvivo
internal import Glibc

/// Visits trees of instances whose types declare their children and keys (`ObjectType.children`, `key`).
extension TypeBox {
    func addTree(_ options: inout invivo_type_options) {
        if children != nil {
            options.child = { instance, data, index, out, error in
                guard let box = TypeBox.box(data), let object = TypeBox.object(instance), let out else {
                    return InvivoError.Code.internal.rawValue
                }
                return answering(box.core, error) { out.pointee = try box.child(index, of: object) }
            }
        }
        if keyName != nil {
            options.key_name = { instance, data, out, error in
                guard let box = TypeBox.box(data), let object = TypeBox.object(instance), let out else {
                    return InvivoError.Code.internal.rawValue
                }
                return answering(box.core, error) {
                    guard let name = try box.keyName?(object) else { return }
                    out.pointee = try BorrowedText.lend(name)
                }
            }
        }
    }

    /// Adds the function that returns the object in which an instance stands.
    func addParent(_ options: inout invivo_type_options) {
        guard parent != nil else { return }
        options.parent = { instance, data, out, error in
            guard let box = TypeBox.box(data), let object = TypeBox.object(instance), let out else {
                return InvivoError.Code.internal.rawValue
            }
            return answering(box.core, error) {
                guard let parent = try box.parent?(object) else { return }
                out.pointee = try box.core.lease(of: parent, isDescribed: false)
            }
        }
    }

    /// With one lease for the caller; zero after the last.
    private func child(_ index: UInt64, of object: AnyObject) throws -> invivo_object {
        let walk = ChildrenWalk.current
        let known = index == 0 ? nil : walk?.below[ObjectIdentifier(object)]
        let below = try known ?? children?(object) ?? []
        guard index < UInt64(below.count) else {
            walk?.below[ObjectIdentifier(object)] = nil
            return invivo_object()
        }
        walk?.below[ObjectIdentifier(object)] = below
        return try core.lease(of: below[Int(index)], isDescribed: false)
    }
}

/// The children in the tree that the calling thread visits. They are computed once for each object.
final class ChildrenWalk {
    fileprivate var below: [ObjectIdentifier: [AnyObject]] = [:]

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    fileprivate static var current: ChildrenWalk? {
        pthread_getspecific(key).map { Unmanaged<ChildrenWalk>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Runs a call that walks a tree.
    static func during<Result>(_ body: () throws(InvivoError) -> Result) throws(InvivoError) -> Result {
        let walk = ChildrenWalk()
        let former = pthread_getspecific(key)
        pthread_setspecific(key, Unmanaged.passUnretained(walk).toOpaque())
        defer {
            pthread_setspecific(key, former)
            withExtendedLifetime(walk) {}
        }
        return try body()
    }
}

/// A string that a callback returns, and that its caller copies immediately.
enum BorrowedText {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key) { text in free(text) }
        return key
    }()

    /// Returns a C string that is valid until the next call on this thread, or the end of the thread.
    static func lend(_ text: String) throws(InvivoError) -> UnsafePointer<CChar>? {
        let copy = strdup(try Arena.whole(text))
        free(pthread_getspecific(key))
        pthread_setspecific(key, copy)
        return UnsafePointer(copy)
    }
}
