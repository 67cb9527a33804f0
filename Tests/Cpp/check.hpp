// Shared by the tests of the C++ header: checks that count, and a small class.
#ifndef CHECK_HPP
#define CHECK_HPP

#include <invivo/invivo.hpp>

#include <cstdio>

static int failures;
#define CHECK(condition) \
    ((condition) ? (void)0 : (std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition), (void)failures++))

/// Whether `body` throws an error with this code and a text that contains `part`.
template <typename Body> static bool throws(invivo_status code, const char *part, Body &&body) {
    try {
        body();
        std::fprintf(stderr, "nothing was thrown\n");
    } catch (const invivo::error &error) {
        if (error.code() == code && std::string(error.what()).find(part) != std::string::npos) return true;
        std::fprintf(stderr, "thrown: %d %s\n", error.code(), error.what());
    }
    return false;
}

static int alive;

class part {
public:
    explicit part(std::optional<int> given = {}, part *inner = nullptr) : number(given.value_or(0)), inner(inner) {
        if (number == 13) throw std::runtime_error("not this number");
        alive++;
    }
    part(const part &) = delete;
    ~part() { alive--; }
    void take(part &) { heard++; }
    void lose(part &) { heard--; }

    int number;
    part *inner;
    int heard = 0;
};
class special : public part {
public:
    using part::part;
};

inline void describe(invivo_runtime runtime) {
    invivo::type<part>("Part")
        .constructor<std::optional<int>, part *>({"number", "inner"})
        .property<&part::number>("number")
        .property<&part::heard>("heard")
        .method<&part::take>("take")
        .method<&part::lose>("lose")
        .add(runtime);
    invivo::type<special>("Special").is<part>().constructor<int>({"number"}).property<&special::number>("number").add(runtime);
}

/// At the end of main: no object of any runtime remains.
inline int ended() {
    invivo_live_counts live{};
    live.struct_size = sizeof(live);
    invivo_live(&live);
    CHECK(live.objects == 0 && live.runtimes == 0 && live.errors == 0 && live.callables == 0);
    CHECK(alive == 0);
    if (failures) std::fprintf(stderr, "%d checks failed\n", failures);
    return failures != 0;
}

#endif
