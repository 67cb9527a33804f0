// processor.hpp: functions and components that change definitions, or take the place of objects, when they are made.
#ifndef INVIVO_CPP_PROCESSOR_HPP
#define INVIVO_CPP_PROCESSOR_HPP

#include "wiring.hpp"

namespace invivo {

/// A processor, being written: `invivo::processor("logging").of<store>().decorate<store>([](invivo::ref<store> it) { ... })`.
class processor {
public:
    explicit processor(std::string name) : name_(std::move(name)) {}

    /// For this key alone; for what is, or says that it is, of this type. Neither: for everything.
    processor &key(std::string key) { return key_ = std::move(key), *this; }
    template <typename T> INVIVO_LOCAL processor &of() { return type_ = detail::name_of<T>(), *this; }
    processor &of(std::string type) { return type_ = std::move(type), *this; }
    /// Lower ones come first.
    processor &priority(int32_t priority) { return priority_ = priority, *this; }

    /// A function of the object that was made, as a ref<T>, which answers the ref<...> that takes its place; an empty one, or
    /// nothing, leaves it.
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
    /// The object of this key takes the other's place and gets it as its argument; or its `method` is called with it.
    processor &decorate_by(std::string component, std::string method = {}) {
        return component_ = std::move(component), method_ = std::move(method), *this;
    }
    /// A function of a definition as it was described, which may define the same key anew in the change set:
    /// `[](const invivo_definition &described, invivo_changes changes) { ... }`.
    template <typename F> INVIVO_LOCAL processor &process(F function) {
        box_->process = [kept = std::move(function)](const invivo_definition &described, invivo_changes changes) mutable {
            kept(described, changes);
        };
        return *this;
    }

    const std::string &name() const noexcept { return name_; }
    /// Hands it to whoever takes it; what its functions hold is then the runtime's too, unless that fails.
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
