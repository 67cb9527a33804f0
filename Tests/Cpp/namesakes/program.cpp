// Classes of one name in the program and in two modules: each image uses its own. The program is linked with -rdynamic,
// so that modules would find all exported symbols.
#define NAMESAKE_OFFSET 100
#include "namesakes.hpp"

#include "../check.hpp"

static void each_image_sees_its_own_class_of_a_name() {
    invivo::runtime own;
    describe_namesake(own, "program");
    CHECK(is_own(own, "program"));
    for (const char *module : {TEST_MODULES "/libfirst.so", TEST_MODULES "/libsecond.so"}) {
        try {
            own.load(module);
        } catch (const invivo::error &error) {
            std::fprintf(stderr, "%s\n", error.what());
            failures++;
        }
    }
    CHECK(is_own(own, "program"));
    for (const char *other : {"namesakes.first", "namesakes.second"})
        CHECK(throws(INVIVO_E_TYPE, "the object is a", [&] { own.resolve<namesake>(other); }));
}

int main() {
    each_image_sees_its_own_class_of_a_name();
    return ended();
}
