// module.hpp: modules in C++.
#ifndef INVIVO_CPP_MODULE_HPP
#define INVIVO_CPP_MODULE_HPP

#include "error.hpp"

/// Defines the entry function of a module. The body registers types; an exception makes the load fail.
/// Link the module with the stub library (invivo-module), like a C module.
///     INVIVO_CPP_MODULE(host) { invivo::type<voice>("Voice").add(host); }
#define INVIVO_CPP_MODULE(host)                                                                                   \
    static void invivo_module_describe_(const invivo::runtime_ref &host);                                         \
    INVIVO_MODULE(invivo_module_host_, invivo_module_error_) {                                                    \
        return invivo::detail::guarded(invivo_module_error_,                                                      \
                                       [&] { invivo_module_describe_(invivo::runtime_ref(invivo_module_host_)); }); \
    }                                                                                                             \
    static void invivo_module_describe_(const invivo::runtime_ref &host)

#endif
