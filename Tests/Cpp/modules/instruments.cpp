// A module in C++. It refuses a host with an equal type.
#include <invivo/invivo.hpp>

#include <stdexcept>

struct bell {
    double pitch = 440;
    double ring() { return pitch * 2; }
};

INVIVO_CPP_MODULE(host) {
    invivo_type known{};
    if (invivo_type_find(host, "Bell", &known, nullptr) == INVIVO_OK) throw std::runtime_error("one bell is enough");
    invivo::type<bell>("Bell").shared().property<&bell::pitch>("pitch", {20, 20000}).method<&bell::ring>("ring").add(host);
    static invivo::assembly chimes("chimes");
    chimes.define(invivo::definition("low").of<bell>().lazy_singleton().set("pitch", 110.0));
    host.describe(chimes);
}
