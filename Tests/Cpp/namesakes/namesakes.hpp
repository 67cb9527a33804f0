// A class `namesake` with a different member offset in each image: the program and two modules each have their own.
#include <invivo/invivo.hpp>

struct namesake {
    char before[NAMESAKE_OFFSET];
    int offset;
};

/// Describes this image's namesake, defines one under `name` and reads it as this image's class.
static void describe_namesake(const invivo::runtime_ref &runtime, const char *name) {
    invivo::type<namesake>(name).shared().property<&namesake::offset>("offset").add(runtime);
    runtime.define(invivo::definition(std::string("namesakes.") + name).of<namesake>().lazy_singleton().set("offset", NAMESAKE_OFFSET));
}

/// This image reads its own object by pointer and by name, and no object of another image.
static bool is_own(const invivo::runtime_ref &runtime, const char *name) {
    auto found = runtime.resolve<namesake>((std::string("namesakes.") + name).c_str());
    return found->offset == NAMESAKE_OFFSET && found.held().get("offset").template as<int>() == NAMESAKE_OFFSET;
}
