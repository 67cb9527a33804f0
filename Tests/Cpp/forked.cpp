// A forked child with the C++17 header reads the objects of its parent, whatever the parent's threads do.
#include <invivo/invivo.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

static int failures;
#define CHECK(condition) ((condition) ? (void)0 : (std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition), (void)failures++))

struct clock_part {
    clock_part() = default;
    ~clock_part() { ended++; }
    clock_part(const clock_part &) = delete;
    int ticks = 7;
    static std::atomic<int> ended;
};
std::atomic<int> clock_part::ended;
struct voice {
    explicit voice(clock_part &clock) : clock(clock) {}
    clock_part &clock;
};

template <typename Body> static bool is_forked(Body &&body) {
    try {
        body();
    } catch (const invivo::error &error) {
        return error.code() == INVIVO_E_FORKED;
    }
    return false;
}

static void read(const invivo::runtime &own, clock_part *built) {
    CHECK(own.resolve<clock_part>("synth.clock").get() == built);
    CHECK(own.resolve<clock_part>().get() == built && built->ticks == 7);
    {
        invivo::view now(own.raw());
        CHECK(now.generation() > 0 && now.get(own.key_of<clock_part>("synth.clock")) == built);
    }
    CHECK(is_forked([&] { own.resolve<voice>("synth.voice"); }));
    CHECK(is_forked([&] { own.define(invivo::definition("synth.other").of<clock_part>().lazy_singleton()); }));
}

int main() {
    invivo::runtime own;
    std::atomic<bool> over{false};
    invivo::type<clock_part>("Clock").shared().add(own);
    invivo::type<voice>("Voice").constructor<clock_part &>({"clock"}).shared().add(own);
    own.define(invivo::definition("synth.clock").of<clock_part>().singleton());
    own.define(invivo::definition("synth.voice").of<voice>().prototype().with(invivo::by_type<clock_part>()));
    clock_part *built = own.resolve<clock_part>("synth.clock").get();
    std::atomic<int> rounds{0};
    std::thread other([&] {
        for (; !over; rounds++) CHECK(&own.resolve<voice>("synth.voice")->clock == built);
    });
    // No fork during the first use of a function: locks of the Swift runtime are not released in a child.
    while (rounds < 10) std::this_thread::yield();
    for (int i = 0; i < 300 && !failures; i++) {
        pid_t child = fork();
        int status = -1;
        if (child == 0) {
            alarm(60);
            read(own, built);
            own.close(); // ends nothing
            CHECK(clock_part::ended == 0);
            _exit(failures ? 1 : 0);
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    over = true;
    other.join();
    own.close();
    CHECK(clock_part::ended == 1);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
