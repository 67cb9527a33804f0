// settings.hpp: sections of the configuration as values of a C++ type.
#ifndef INVIVO_CPP_SETTINGS_HPP
#define INVIVO_CPP_SETTINGS_HPP

#include "rule.hpp"

namespace invivo {

/// A binding of settings that views read as a T. The constructor throws if it is bound to another type, and later bindings with the name
/// must be of the same type. Small; valid while its runtime is open.
template <typename T> class settings_id {
public:
    settings_id() noexcept = default;
    INVIVO_LOCAL settings_id(invivo_runtime runtime, const std::string &name) {
        detail::checked([&](invivo_error **e) { 
            return invivo_settings_typed_id(runtime, name.c_str(), detail::cpp_name<T>(), sizeof(T), &raw_, e);
        });
    }
    invivo_config raw() const noexcept { return raw_; }

private:
    invivo_config raw_{};
};

namespace detail INVIVO_LOCAL {

/// The path below a value to the first part that does not convert to a T: ".hosts.0", or "" for the value itself.
template <typename T> struct fault {
    static std::string path(const invivo_value &) { return {}; }
};
/// The path to a part if it does not convert; else "".
template <typename T> std::string fault_in(const std::string &name, const invivo_value &part) {
    try {
        convert<T>::read(part);
    } catch (const error &) {
        return "." + name + fault<T>::path(part);
    }
    return {};
}
template <typename T> struct fault<std::optional<T>> : fault<T> {};
template <typename T> struct fault<std::vector<T>> {
    static std::string path(const invivo_value &whole) {
        std::string found;
        for (uint64_t i = 0; whole.kind == INVIVO_KIND_LIST && i < whole.as.list.count && found.empty(); i++)
            found = fault_in<T>(std::to_string(i), whole.as.list.items[i]);
        return found;
    }
};
template <typename T> struct fault<std::map<std::string, T>> {
    static std::string path(const invivo_value &whole) {
        std::string found;
        for (uint64_t i = 0; whole.kind == INVIVO_KIND_MAP && i < whole.as.map.count && found.empty(); i++) {
            const invivo_pair &pair = whole.as.map.pairs[i];
            found = fault_in<T>(std::string(pair.name, static_cast<size_t>(pair.length)), pair.value);
        }
        return found;
    }
};

} // namespace detail

/// A section of the configuration that a function reads. Valid during the call.
class section {
public:
    explicit section(const invivo_section *raw) noexcept : raw_(raw) {}
    /// The whole value; an empty map if there is none.
    invivo::value whole() const { return value::copied(*raw_->value); }
    /// Whether there is an entry.
    bool has(std::string_view name) const noexcept { return find(name) != nullptr; }
    /// Returns an entry as a T. Throws an error if it does not convert, at the location of the part at fault, or if it is missing.
    template <typename T> INVIVO_LOCAL T get(const std::string &name) const {
        const invivo_value *found = find(name);
        if (!found) throw error(INVIVO_E_NOT_CONFIGURED, "'" + name + "' is not set", name);
        const invivo_value *text = variable(name);
        try {
            if (text && text->kind == INVIVO_KIND_STRING && std::is_same_v<T, std::string>) return detail::convert<T>::read(*text);
            return detail::convert<T>::read(*found);
        } catch (const error &failed) {
            const std::string part = name + detail::fault<T>::path(*found);
            bool is_hidden = text || variable(part) || (raw_->flags & INVIVO_SECTION_PRIVATE);
            throw error(failed.code(), is_hidden ? "the value has another kind" : invivo_error_message(failed.raw()), part);
        }
    }
    /// Returns an entry as a T, or `absent` if there is none.
    template <typename T> INVIVO_LOCAL T get(const std::string &name, T absent) const {
        return has(name) ? get<T>(name) : absent;
    }
    const invivo_section *raw() const noexcept { return raw_; }

private:
    static const invivo_value *entry(const invivo_value &map, std::string_view name) noexcept {
        if (map.kind != INVIVO_KIND_MAP) return nullptr;
        for (uint64_t i = 0; i < map.as.map.count; i++) {
            const invivo_pair &pair = map.as.map.pairs[i];
            if (std::string_view(pair.name, static_cast<size_t>(pair.length)) == name) return &pair.value;
        }
        return nullptr;
    }
    const invivo_value *find(std::string_view name) const noexcept { return entry(*raw_->value, name); }
    const invivo_value *variable(std::string_view name) const noexcept { return entry(*raw_->variables, name); }

    const invivo_section *raw_;
};

namespace detail INVIVO_LOCAL {

template <typename T> using settings_check = std::function<void(const T &)>;

/// Binds a section to a struct that a table of fields describes.
template <typename T>
void bind_settings(invivo_changes changes, const char *name, const char *path, const invivo_property *fields, size_t count,
                   settings_check<T> check) {
    static_assert(std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T>,
                  "fields describe a plain struct; bind other types with a function that reads the section");
    auto kept = std::make_unique<settings_check<T>>(std::move(check));
    invivo_settings raw{};
    raw.struct_size = sizeof(raw);
    raw.name = name, raw.path = path;
    raw.fields = fields, raw.field_count = count, raw.size = sizeof(T), raw.type = cpp_name<T>();
    raw.user_data = kept.get();
    raw.destroy = [](void *data) { delete static_cast<settings_check<T> *>(data); };
    if (*kept) {
        raw.check = [](const void *value, const invivo_value *, size_t, size_t *at, void *data, invivo_error **failed) {
            return guarded(failed, [&] {
                try {
                    (*static_cast<settings_check<T> *>(data))(*static_cast<const T *>(value));
                } catch (const refused &why) {
                    if (why.input() != refused::unknown) *at = why.input();
                    throw;
                }
            });
        };
    }
    checked([&](invivo_error **e) { return invivo_changes_bind_settings(changes, &raw, e); });
    (void)kept.release();
}

/// Binds a section to the values that a function of a `const section &` returns.
template <typename F>
void bind_settings(invivo_changes changes, const char *name, const char *path, F read, const std::vector<const char *> &secrets = {}) {
    using T = std::decay_t<std::invoke_result_t<F &, const section &>>;
    auto kept = std::make_unique<F>(std::move(read));
    invivo_settings raw{};
    raw.struct_size = sizeof(raw);
    raw.name = name, raw.path = path, raw.type = cpp_name<T>();
    raw.secrets = secrets.empty() ? nullptr : secrets.data(), raw.secret_count = secrets.size();
    raw.user_data = kept.get();
    raw.create = [](const invivo_section *given, void **out, void *data, invivo_error **failed) {
        return guarded(failed, [&] { *out = new T((*static_cast<F *>(data))(section(given))); });
    };
    raw.release = [](void *value, void *) { delete static_cast<T *>(value); };
    raw.destroy = [](void *data) { delete static_cast<F *>(data); };
    checked([&](invivo_error **e) { return invivo_changes_bind_settings(changes, &raw, e); });
    (void)kept.release();
}

/// Adds a type of settings whose sections `bind` binds.
template <typename Bind> void add_settings_type(invivo_runtime runtime, const char *name, Bind bind) {
    invivo_settings_type raw{};
    raw.struct_size = sizeof(raw);
    raw.name = name;
    raw.bind = [](invivo_changes changes, const char *bound, const char *path, void *data, invivo_error **failed) {
        return guarded(failed, [&] { (*static_cast<Bind *>(data))(changes, bound, path); });
    };
    raw.user_data = new Bind(std::move(bind));
    raw.destroy = [](void *data) { delete static_cast<Bind *>(data); };
    checked([&](invivo_error **e) { return invivo_settings_type_add(runtime, &raw, e); });
}

} // namespace detail
} // namespace invivo

#endif
