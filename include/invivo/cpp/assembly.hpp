// assembly.hpp: named sets of definitions, described and then activated.
#ifndef INVIVO_CPP_ASSEMBLY_HPP
#define INVIVO_CPP_ASSEMBLY_HPP

#include "wiring.hpp"

namespace invivo {

/// A builder for an assembly: `invivo::assembly("camelot").define(...).needs("armory")`. A key without a dot is a
/// member.
class assembly {
public:
    explicit assembly(std::string name) : name_(std::move(name)) {}
    /// Creates an assembly that inherits the definitions of `base`, except those that it defines itself.
    /// It replaces `base` wherever both are candidates. `base` must outlive it.
    assembly(std::string name, const assembly &base) : name_(std::move(name)), base_(&base) {}
    assembly(const assembly &) = delete;
    assembly &operator=(const assembly &) = delete;

    const std::string &name() const noexcept { return name_; }
    /// Adds a definition, and takes it over.
    assembly &define(definition &&what) { return members_.push_back(std::move(what)), described_.clear(), *this; }
    assembly &define(definition &what) { return define(std::move(what)); }
    /// Adds a collaborator: another assembly that references with `prefix` lead to.
    assembly &needs(std::string prefix, std::string name = {}, uint32_t flags = 0) {
        return collaborators_.push_back({std::move(prefix), std::move(name), flags}), described_.clear(), *this;
    }
    /// Adds the name of an interface by which collaborators can find it.
    assembly &is(std::string what) { return kinds_.push_back(std::move(what)), described_.clear(), *this; }
    /// Adds a configuration path that is secret while the assembly is active. Those of its base are, too.
    assembly &secret(std::string path) { return secrets_.push_back(std::move(path)), described_.clear(), *this; }
    assembly &at(const char *file, uint32_t line) { return file_ = file, line_ = line, *this; }

    /// Describes it to a runtime once, without activating it.
    void describe_to(invivo_runtime runtime) const {
        for (uint64_t known : described_)
            if (known == runtime.bits) return;
        give_to([&](const invivo_assembly &raw) {
            detail::checked([&](invivo_error **e) { return invivo_assembly_describe(runtime, &raw, e); });
        });
        described_.push_back(runtime.bits);
    }
    /// Refers to the described assembly by name only.
    invivo_assembly described() const noexcept {
        invivo_assembly raw{};
        raw.struct_size = sizeof(raw);
        raw.name = name_.c_str(), raw.flags = INVIVO_ASSEMBLY_DESCRIBED;
        return raw;
    }

private:
    struct collaborator {
        std::string prefix, assembly;
        uint32_t flags;
    };
    struct INVIVO_LOCAL tables {
        detail::rooms room;
        std::deque<std::vector<invivo_definition>> definitions;
        std::deque<std::vector<invivo_collaborator>> collaborators;
        std::deque<std::vector<const char *>> names;
        std::deque<invivo_assembly> bases;
    };

    template <typename Take> INVIVO_LOCAL void give_to(Take &&take) const {
        tables room;
        detail::handed handed;
        invivo_assembly raw = this->raw(room, handed);
        take(raw);
        handed.keep();
    }
    invivo_assembly raw(tables &room, detail::handed &handed) const {
        invivo_assembly raw{};
        raw.struct_size = sizeof(raw);
        raw.name = name_.c_str();
        raw.file = file_, raw.line = line_;
        std::vector<invivo_definition> definitions;
        for (const definition &each : members_) definitions.push_back(each.raw(room.room, handed));
        room.definitions.push_back(std::move(definitions));
        raw.definitions = room.definitions.back().empty() ? nullptr : room.definitions.back().data(), raw.definition_count = room.definitions.back().size();
        std::vector<invivo_collaborator> wanted;
        for (const collaborator &each : collaborators_) {
            invivo_collaborator one{};
            one.prefix = each.prefix.c_str(), one.assembly = detail::text_or_null(each.assembly), one.flags = each.flags;
            wanted.push_back(one);
        }
        room.collaborators.push_back(std::move(wanted));
        raw.collaborators = room.collaborators.back().data(), raw.collaborator_count = room.collaborators.back().size();
        std::vector<const char *> names;
        for (const std::string &each : kinds_) names.push_back(each.c_str());
        room.names.push_back(std::move(names));
        raw.supertypes = room.names.back().data(), raw.supertype_count = room.names.back().size();
        std::vector<const char *> secrets;
        for (const std::string &each : secrets_) secrets.push_back(each.c_str());
        room.names.push_back(std::move(secrets));
        raw.secrets = room.names.back().data(), raw.secret_count = room.names.back().size();
        if (base_) {
            room.bases.push_back(base_->raw(room, handed));
            raw.base = &room.bases.back();
        }
        return raw;
    }

    std::string name_;
    const assembly *base_ = nullptr;
    std::deque<definition> members_;
    std::vector<collaborator> collaborators_;
    std::vector<std::string> kinds_, secrets_;
    const char *file_ = nullptr;
    uint32_t line_ = 0;
    mutable std::vector<uint64_t> described_; ///< the runtimes to which it has been described
};

/// Targets of outer references of a mount: whole keys, or the first parts of keys.
using remaps = std::map<std::string, std::string>;

namespace detail INVIVO_LOCAL {
inline std::vector<invivo_remap> raw_remaps(const remaps &given) {
    std::vector<invivo_remap> raw;
    for (const auto &[from, to] : given) raw.push_back({from.c_str(), to.c_str()});
    return raw;
}
} // namespace detail

} // namespace invivo

#endif
