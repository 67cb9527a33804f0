// graph.hpp: descriptions of the current wiring, and states of objects.
#ifndef INVIVO_CPP_GRAPH_HPP
#define INVIVO_CPP_GRAPH_HPP

#include "value.hpp"

#include <chrono>

namespace invivo {

/// One key of the wiring. See invivo_graph_describe.
struct wiring_node {
    struct need {
        std::string key, how; ///< "initializer", "injection", "late", "asked", "alias", "configuration"
        std::string on_change; ///< "keep", "rebuild", "refuse", or empty: as the reference decides
        uint64_t kept_since = 0; ///< the generation that first replaced what is kept; 0: nothing is kept
        bool secret = false;     ///< a path of the configuration whose value, or a part of it, is secret
    };
    std::string key, type, scope, alias, file;
    std::string spec_key; ///< the key whose traits apply to its objects, or "none"; empty: its own key
    bool abstract = false;
    bool wired = false; ///< a document has decided about it (`wiring:`), at this location
    int64_t rank = 0;
    uint64_t generation = 0, live = 0, built_ns = 0, line = 0, column = 0;
    std::vector<need> needs;
};

/// The state of the shared instances of a key.
struct object_state {
    std::string key;
    uint32_t state = 0; ///< INVIVO_STATE_...
    std::string name;   ///< "started"
    uint64_t objects = 0;
    std::vector<std::string> waits; ///< the missing dependencies of a blocked definition
    std::string error;              ///< the reason of the last failure
};

/// A document, and how its changes are detected.
struct source_state {
    std::string name, path; ///< empty: a document in memory
    std::string follows;    ///< "watching", "polling", "memory" or "closed"
    std::string reason;     ///< the reason for polling
    uint64_t interval_ms = 0;
    bool diverged = false;  ///< the file has bytes that a rollback refused
    std::string live_hash, file_hash;
    bool refused = false;   ///< the present content of the file was refused; it is tried again in each change set
};

/// A generation to which a rollback is possible, or the current one. See invivo_runtime_history.
struct kept_generation {
    uint64_t generation = 0;
    uint64_t first = 0;  ///< the first of several generations with this content
    std::string cause;   ///< of the commit that made it; "" for the first generation
    std::chrono::system_clock::time_point time;
    std::vector<std::string> marks;
};

/// The reasons why changes take effect late, or not at all. See invivo_runtime_status.
struct runtime_status {
    /// A dependency of which objects keep the former object or value.
    struct kept_dependency {
        std::string key, dependency;
        uint64_t since = 0; ///< the generation that replaced what is kept
    };
    /// A change that takes effect when an object is next created.
    struct pending_restart {
        std::string key, property; ///< without a property: of the definition
        uint64_t since = 0;        ///< the generation that made the change
    };
    /// A former generation that is read, pinned, or whose objects are in use.
    struct former_generation {
        uint64_t generation = 0, age_ns = 0, objects = 0, bytes = 0;
        std::vector<uint64_t> threads; ///< the kernel's ids of those that read it now
    };
    struct open_pin {
        uint64_t generation = 0, age_ns = 0, thread = 0;
        std::string place; ///< "server.cpp:12", or empty
    };
    uint64_t generation = 0, reloads = 0, failures = 0;
    std::string last_error;             ///< the message; empty: none
    std::string last_error_file;
    uint64_t last_error_line = 0, last_error_column = 0;
    std::string running;                ///< the reload that runs; empty: none
    uint64_t waiting_sets = 0, waiting_jobs = 0;
    uint64_t step = 0, moving = 0;      ///< steps in this generation; blocks and objects with properties that move
    std::vector<std::string> diverged;  ///< documents whose files have other bytes than the live content
    std::vector<kept_dependency> kept;
    std::vector<pending_restart> restart;
    std::vector<std::string> unrestored; ///< keys of objects that a failed commit could not restore
    std::vector<former_generation> former;
    std::vector<open_pin> pins;         ///< the oldest first
};

/// A retired object that has not been stopped. See invivo_runtime_retired.
struct retired_object {
    std::string key, type;
    std::string reason; ///< "read", "leased", "referenced"
    uint64_t leases = 0, retired_ns = 0, idle_ns = 0;
};

/// The effective definition of a key. See invivo_key_describe.
struct key_facts {
    struct parameter {
        std::string name, type;  ///< empty: any type, or a value
        invivo_kind kind = INVIVO_KIND_ANY;
        bool optional = false;
        value fallback; ///< null: no default
    };
    invivo_type type{};      ///< of its objects, or one of its supertypes
    uint32_t scope = 0;      ///< INVIVO_SCOPE_...
    std::string scope_name;  ///< name of a host scope, or of a kind of contexts
    std::string making;      ///< "initializer", "factory", "method", "constant", "choice", ...
    std::string file;
    uint32_t line = 0;
    std::vector<parameter> parameters; ///< the runtime arguments
};

namespace detail INVIVO_LOCAL {

using facts_map = std::map<std::string, value>;
template <typename T> T fact(const facts_map &facts, const char *name) {
    auto found = facts.find(name);
    return found == facts.end() || found->second.is_null() ? T{} : found->second.as<T>();
}

inline value graph_describe(invivo_runtime runtime, uint32_t format) {
    value found;
    checked([&](invivo_error **e) { return invivo_graph_describe(runtime, format, found.out(), e); });
    return found;
}
inline std::vector<wiring_node> graph_nodes(invivo_runtime runtime) {
    std::vector<wiring_node> nodes;
    for (const facts_map &facts : graph_describe(runtime, INVIVO_GRAPH_FACTS).as<std::vector<facts_map>>()) {
        wiring_node node;
        node.key = fact<std::string>(facts, "key"), node.type = fact<std::string>(facts, "type");
        node.scope = fact<std::string>(facts, "scope"), node.alias = fact<std::string>(facts, "alias");
        node.file = fact<std::string>(facts, "file"), node.abstract = fact<bool>(facts, "abstract");
        node.rank = fact<int64_t>(facts, "rank"), node.generation = fact<uint64_t>(facts, "generation");
        node.live = fact<uint64_t>(facts, "live"), node.built_ns = fact<uint64_t>(facts, "built_ns");
        node.line = fact<uint64_t>(facts, "line"), node.column = fact<uint64_t>(facts, "column");
        node.wired = fact<bool>(facts, "wired"), node.spec_key = fact<std::string>(facts, "spec_key");
        for (const facts_map &need : fact<std::vector<facts_map>>(facts, "needs"))
            node.needs.push_back({fact<std::string>(need, "key"), fact<std::string>(need, "how"),
                                  fact<std::string>(need, "on_change"), fact<uint64_t>(need, "kept_since"),
                                  fact<bool>(need, "secret")});
        nodes.push_back(std::move(node));
    }
    return nodes;
}
inline std::vector<object_state> object_states(invivo_runtime runtime) {
    value found;
    checked([&](invivo_error **e) { return invivo_runtime_states(runtime, found.out(), e); });
    std::vector<object_state> states;
    for (const facts_map &facts : found.as<std::vector<facts_map>>()) {
        states.push_back({fact<std::string>(facts, "key"), fact<uint32_t>(facts, "state"), fact<std::string>(facts, "name"),
                          fact<uint64_t>(facts, "objects"), fact<std::vector<std::string>>(facts, "waits"),
                          fact<std::string>(facts, "error")});
    }
    return states;
}
inline std::vector<source_state> source_states(invivo_runtime runtime) {
    value found;
    checked([&](invivo_error **e) { return invivo_runtime_sources(runtime, found.out(), e); });
    std::vector<source_state> states;
    for (const facts_map &facts : found.as<std::vector<facts_map>>()) {
        states.push_back({fact<std::string>(facts, "name"), fact<std::string>(facts, "path"), fact<std::string>(facts, "follows"),
                          fact<std::string>(facts, "reason"), fact<uint64_t>(facts, "interval_ms"), fact<bool>(facts, "diverged"),
                          fact<std::string>(facts, "live_hash"), fact<std::string>(facts, "file_hash"), fact<bool>(facts, "refused")});
    }
    return states;
}
inline std::vector<kept_generation> kept_generations(invivo_runtime runtime) {
    value found;
    checked([&](invivo_error **e) { return invivo_runtime_history(runtime, found.out(), e); });
    std::vector<kept_generation> kept;
    for (const facts_map &facts : found.as<std::vector<facts_map>>()) {
        kept.push_back({fact<uint64_t>(facts, "generation"), fact<uint64_t>(facts, "first"), fact<std::string>(facts, "cause"),
                        std::chrono::system_clock::time_point(
                            std::chrono::duration_cast<std::chrono::system_clock::duration>(
                                std::chrono::nanoseconds(fact<uint64_t>(facts, "time_ns")))),
                        fact<std::vector<std::string>>(facts, "marks")});
    }
    return kept;
}
inline runtime_status status_of(invivo_runtime runtime) {
    value found;
    checked([&](invivo_error **e) { return invivo_runtime_status(runtime, found.out(), e); });
    facts_map facts = found.as<facts_map>();
    runtime_status status;
    status.generation = fact<uint64_t>(facts, "generation"), status.reloads = fact<uint64_t>(facts, "reloads");
    status.failures = fact<uint64_t>(facts, "failures");
    if (facts["last_error"].raw().kind == INVIVO_KIND_MAP) {
        facts_map error = fact<facts_map>(facts, "last_error");
        status.last_error = fact<std::string>(error, "message"), status.last_error_file = fact<std::string>(error, "file");
        status.last_error_line = fact<uint64_t>(error, "line"), status.last_error_column = fact<uint64_t>(error, "column");
    }
    if (facts["running"].raw().kind == INVIVO_KIND_STRING) status.running = fact<std::string>(facts, "running");
    status.waiting_sets = fact<uint64_t>(facts, "waiting_sets"), status.waiting_jobs = fact<uint64_t>(facts, "waiting_jobs");
    status.step = fact<uint64_t>(facts, "step"), status.moving = fact<uint64_t>(facts, "moving");
    status.diverged = fact<std::vector<std::string>>(facts, "diverged");
    for (const facts_map &each : fact<std::vector<facts_map>>(facts, "kept"))
        status.kept.push_back({fact<std::string>(each, "key"), fact<std::string>(each, "dependency"), fact<uint64_t>(each, "since")});
    for (const facts_map &each : fact<std::vector<facts_map>>(facts, "restart"))
        status.restart.push_back({fact<std::string>(each, "key"), fact<std::string>(each, "property"), fact<uint64_t>(each, "since")});
    status.unrestored = fact<std::vector<std::string>>(facts, "unrestored");
    for (const facts_map &each : fact<std::vector<facts_map>>(facts, "former"))
        status.former.push_back({fact<uint64_t>(each, "generation"), fact<uint64_t>(each, "age_ns"), fact<uint64_t>(each, "objects"),
                                 fact<uint64_t>(each, "bytes"), fact<std::vector<uint64_t>>(each, "threads")});
    for (const facts_map &each : fact<std::vector<facts_map>>(facts, "pins"))
        status.pins.push_back({fact<uint64_t>(each, "generation"), fact<uint64_t>(each, "age_ns"), fact<uint64_t>(each, "thread"),
                               fact<std::string>(each, "place")});
    return status;
}
inline std::vector<retired_object> retired_objects(invivo_runtime runtime) {
    value found;
    checked([&](invivo_error **e) { return invivo_runtime_retired(runtime, found.out(), e); });
    std::vector<retired_object> retired;
    for (const facts_map &facts : found.as<std::vector<facts_map>>()) {
        retired.push_back({fact<std::string>(facts, "key"), fact<std::string>(facts, "type"), fact<std::string>(facts, "reason"),
                           fact<uint64_t>(facts, "leases"), fact<uint64_t>(facts, "retired_ns"), fact<uint64_t>(facts, "idle_ns")});
    }
    return retired;
}

inline key_facts described_key(invivo_runtime runtime, const char *name) {
    invivo_key key{};
    checked([&](invivo_error **e) { return invivo_key_find(runtime, name, &key, e); });
    value found;
    checked([&](invivo_error **e) { return invivo_key_describe(runtime, key, found.out(), e); });
    facts_map facts = found.as<facts_map>();
    key_facts described;
    const invivo_value &type = facts["type"].raw();
    if (type.kind == INVIVO_KIND_TYPE) described.type = type.as.type;
    described.scope = fact<uint32_t>(facts, "scope"), described.scope_name = fact<std::string>(facts, "scope_name");
    described.making = fact<std::string>(facts, "making"), described.file = fact<std::string>(facts, "file");
    described.line = fact<uint32_t>(facts, "line");
    for (const facts_map &parameter : fact<std::vector<facts_map>>(facts, "parameters")) {
        auto fallback = parameter.find("default");
        described.parameters.push_back({fact<std::string>(parameter, "name"), fact<std::string>(parameter, "type"),
                                        fact<invivo_kind>(parameter, "kind"), fact<bool>(parameter, "optional"),
                                        fallback == parameter.end() ? value() : fallback->second});
    }
    return described;
}

} // namespace detail
} // namespace invivo

#endif
