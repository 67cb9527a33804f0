// A runtime and an application without a log function write warnings and refused edits to standard error.
#include "check.hpp"

#include <fstream>
#include <poll.h>
#include <unistd.h>

// The output to standard error during its lifetime.
class captured {
public:
    captured() : kept(dup(STDERR_FILENO)) {
        int ends[2];
        if (pipe(ends) != 0) std::exit(2);
        reading = ends[0];
        dup2(ends[1], STDERR_FILENO);
        close(ends[1]);
    }
    captured(const captured &) = delete;
    ~captured() {
        restore();
        close(reading);
    }

    // Waits for a text that ends with `end`; returns the output if no more arrives.
    std::string until(const std::string &end) {
        std::string text;
        pollfd there{reading, POLLIN, 0};
        char bytes[4096];
        while (text.size() < end.size() || text.compare(text.size() - end.size(), end.size(), end) != 0) {
            if (poll(&there, 1, 60000) <= 0) break;
            ssize_t count = read(reading, bytes, sizeof bytes);
            if (count <= 0) break;
            text.append(bytes, static_cast<size_t>(count));
        }
        return text;
    }
    // The remaining output, when all writers have closed.
    std::string rest() {
        restore();
        return until(std::string(1, 0));
    }

private:
    void restore() {
        if (kept < 0) return;
        dup2(kept, STDERR_FILENO);
        close(kept);
        kept = -1;
    }
    int kept, reading = -1;
};

static std::string folder;
static void write_file(const std::string &name, const std::string &text) {
    std::ofstream(folder + name + ".new") << text;
    std::rename((folder + name + ".new").c_str(), (folder + name).c_str());
}

static void a_broken_edit_is_written() {
    write_file("a.yaml", "config: { a: 1 }");
    std::string text;
    {
        captured errors;
        invivo::runtime own;
        own.watch((folder + "a.yaml").c_str());
        write_file("a.yaml", "config: [");
        text = errors.until("was not applied\n");
        own.close();
    }
    CHECK(text.find("invivo: error: " + folder + "a.yaml:1:") == 0);
}

static void an_application_may_be_silent() {
    write_file("app.yaml", "specs: [late.yaml]");
    write_file("late.yaml", "config: [");
    for (bool is_silent : {false, true}) {
        invivo_runtime_options options;
        invivo_runtime_options_init(&options);
        if (is_silent) options.log_level = INVIVO_LOG_SILENT;
        std::string text;
        {
            captured errors;
            invivo::application app(folder + "app.yaml", INVIVO_APP_WAIT, &options);
            app.close();
            text = errors.rest();
        }
        CHECK((text.find("invivo: error: " + folder + "late.yaml:1:") == 0) == !is_silent);
        CHECK(text.empty() == is_silent);
    }
}

int main() {
    char place[] = "/tmp/invivo-cpp-XXXXXX";
    if (!mkdtemp(place)) return 2;
    folder = std::string(place) + "/";
    a_broken_edit_is_written();
    an_application_may_be_silent();
    for (const char *name : {"a.yaml", "app.yaml", "late.yaml"}) std::remove((folder + name).c_str());
    rmdir(place);
    return ended();
}
