// A module with a class that the program and another module also have, with the same name and another layout.
#define NAMESAKE_OFFSET 800
#include "namesakes.hpp"

INVIVO_CPP_MODULE(host) {
    describe_namesake(host, "second");
    if (!is_own(host, "second")) throw invivo::error(INVIVO_E_TYPE, "the class is mixed up with that of another image");
}
