// processor.hpp: functions and components that change definitions or replace objects.
#ifndef INVIVO_CPP_PROCESSOR_HPP
#define INVIVO_CPP_PROCESSOR_HPP

#include "wiring.hpp"

namespace invivo {

/// A builder for a processor: `invivo::processor("logging").of<store>().decorate<store>([](invivo::ref<store> it) { ...
/// })`.
class processor {
public:
    explicit processor(std::string name) : name_(std::move(name)) {}

    /// Limits it to a key (`key`), or to a type and its subtypes (`of`). Without a limit it applies to all definitions.
    processor &key(std::string key) { return key_ = std::move(key), *this; }
    template <typename T> INVIVO_LOCAL processor &of() { return type_ = detail::name_of<T>(), *this; }
    processor &of(std::string type) { return type_ = std::move(type), *this; }
    /// The lowest priority is first.
    processor &priority(int32_t priority) { return priority_ = priority, *this; }

    /// Sets the decorator: a function of the created object as a ref<T> that returns the replacement as a ref<...>. An
    /// empty ref, or no result, keeps the object.
    template <typename T, typename F> INVIVO_LOCAL processor &decorate(F function) {
        if (type_.empty() && key_.empty()) of<T>();
        box_->decorate = [kept = std::move(function)](invivo_object made) mutable -> object {
            ref<T> given(object::retained(made));
            if constexpr (std::is_void_v<decltype(kept(given))>) {
                kept(given);
                return {};
            } else {
                auto answered = kept(given);
                return answered && !(answered.held() == given.held()) ? answered.held() : object();
            }
        };
        return *this;
    }
    /// Sets the component that decorates. It receives the object as its argument and replaces it, or its `method` is
    /// called with the object.
    processor &decorate_by(std::string component, std::string method = {}) {
        return component_ = std::move(component), method_ = std::move(method), *this;
    }
    /// Sets the function that processes definitions. It may define the same key in the change set:
    /// `[](const invivo_definition &described, invivo_changes changes) { ... }`.
    template <typename F> INVIVO_LOCAL processor &process(F function) {
        box_->process = [kept = std::move(function)](const invivo_definition &described, invivo_changes changes) mutable {
            kept(described, changes);
        };
        return *this;
    }

    const std::string &name() const noexcept { return name_; }
    /// Passes the raw form to `take`. If that succeeds, the runtime shares the ownership of its functions.
    template <typename Take> INVIVO_LOCAL void give_to(Take &&take) const {
        invivo_processor raw{};
        raw.struct_size = sizeof(raw);
        raw.name = name_.c_str();
        raw.key = detail::text_or_null(key_), raw.type = detail::text_or_null(type_), raw.priority = priority_;
        raw.component = detail::text_or_null(component_), raw.method = detail::text_or_null(method_);
        auto kept = std::make_unique<std::shared_ptr<box>>(box_);
        raw.user_data = kept.get();
        raw.destroy = [](void *data) { delete static_cast<std::shared_ptr<box> *>(data); };
        if (box_->decorate) {
            raw.decorate = [](invivo_object made, const invivo_build *, invivo_object *out, void *data, invivo_error **failed) {
                return detail::guarded(failed, [&] { *out = (*static_cast<std::shared_ptr<box> *>(data))->decorate(made).release(); });
            };
        }
        if (box_->process) {
            raw.process = [](const invivo_definition *described, invivo_changes changes, void *data, invivo_error **failed) {
                return detail::guarded(failed, [&] { (*static_cast<std::shared_ptr<box> *>(data))->process(*described, changes); });
            };
        }
        take(raw);
        (void)kept.release();
    }

private:
    struct box {
        std::function<object(invivo_object)> decorate;
        std::function<void(const invivo_definition &, invivo_changes)> process;
    };
    std::string name_, key_, type_, component_, method_;
    int32_t priority_ = 0;
    std::shared_ptr<box> box_ = std::make_shared<box>();
};

} // namespace invivo

#endif
