// How documents are followed, and counts of changes without events. The inotify functions below replace those of libc,
// for this program and the library: they refuse watches, and report an overflow.
#include "check.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sched.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

static std::atomic<int> events{-1};
static std::atomic<bool> refuses{false}, overflows{false}, is_deaf{false};

extern "C" int inotify_init1(int flags) {
    if (refuses) return errno = EMFILE, -1;
    events = static_cast<int>(syscall(SYS_inotify_init1, flags));
    return events;
}
extern "C" ssize_t read(int file, void *to, size_t length) {
    ssize_t got = syscall(SYS_read, file, to, length);
    if (file != events || got <= 0) return got;
    if (overflows.exchange(false)) {
        inotify_event lost{};
        lost.wd = -1;
        lost.mask = IN_Q_OVERFLOW;
        memcpy(to, &lost, sizeof lost);
        return sizeof lost;
    }
    if (is_deaf) return errno = EAGAIN, -1;
    return got;
}

static std::string file;
static void write(int number) { std::ofstream(file) << "config: { a: { number: " << number << " } }\n"; }
template <typename F> static void await(F holds) {
    time_t limit = time(nullptr) + 60;
    while (!holds() && time(nullptr) < limit) sched_yield();
    CHECK(holds());
}

static void documents_say_how_they_are_followed() {
    invivo::runtime own;
    write(1);
    invivo::source memory = own.document("memory.yaml", "config: { a: { other: 2 } }");
    invivo::source followed = own.follow(file);
    std::vector<invivo::source_state> states = own.sources();
    CHECK(states.size() == 2);
    CHECK(states[0].name == "memory.yaml" && states[0].path.empty() && states[0].follows == "memory");
    CHECK(states[0].interval_ms == 0 && states[0].reason.empty());
    CHECK(states[1].name == file && states[1].path == file && states[1].follows == "watching");
    CHECK(states[1].interval_ms == 0 && states[1].reason.empty());
    CHECK(own.info().sources == 2);
    followed.close();
    memory.close();
    CHECK(own.sources().empty());
    own.close();
}

static void what_cannot_be_watched_is_polled_and_says_why() {
    invivo::runtime own;
    write(1);
    refuses = true;
    invivo::source followed = own.follow(file);
    std::vector<invivo::source_state> states = own.sources();
    CHECK(states.size() == 1 && states[0].follows == "polling" && states[0].interval_ms == 200);
    CHECK(states[0].reason.find("max_user_instances") != std::string::npos);
    write(2);
    await([&] { return own.config<int64_t>("a.number") == 2; });
    CHECK(own.info().rescans > 0 && own.info().unannounced == 0);
    refuses = false;
    // Watching is tried again, and announces changes from then on.
    await([&] { return own.sources()[0].follows == "watching"; });
    write(3);
    await([&] { return own.config<int64_t>("a.number") == 3; });
    followed.close();
    own.close();
}

static void what_events_leave_out_is_counted() {
    invivo::runtime own;
    write(1);
    invivo::source followed = own.follow(file);
    CHECK(own.info().overflows == 0);
    overflows = true;
    write(2);
    await([&] { return own.config<int64_t>("a.number") == 2; });
    CHECK(own.info().overflows == 1 && own.info().rescans >= 1 && own.info().unannounced == 0);
    is_deaf = true;
    write(3);
    await([&] { return own.config<int64_t>("a.number") == 3; });
    is_deaf = false;
    CHECK(own.info().overflows == 1 && own.info().unannounced == 1);
    followed.close();
    own.close();
}

int main() {
    char directory[] = "/tmp/invivo-sources-XXXXXX";
    CHECK(mkdtemp(directory));
    file = std::string(directory) + "/a.yaml";
    documents_say_how_they_are_followed();
    what_cannot_be_watched_is_polled_and_says_why();
    what_events_leave_out_is_counted();
    unlink(file.c_str());
    rmdir(directory);
    return ended();
}
