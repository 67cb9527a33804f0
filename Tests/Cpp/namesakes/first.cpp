// A module with a class that the program and another module also have, with the same name and another layout.
#define NAMESAKE_OFFSET 400
#include "namesakes.hpp"

INVIVO_CPP_MODULE(host) {
    describe_namesake(host, "first");
    if (!is_own(host, "first")) throw invivo::error(INVIVO_E_TYPE, "the class is mixed up with that of another image");
}
