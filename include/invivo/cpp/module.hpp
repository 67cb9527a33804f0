// module.hpp: writing modules in C++.
#ifndef INVIVO_CPP_MODULE_HPP
#define INVIVO_CPP_MODULE_HPP

#include "error.hpp"

/// In a module: defines its entry. The body describes types and what else there is; what it throws is why the module is not
/// loaded. Link it with the stub library (invivo-module), as modules of C.
///     INVIVO_CPP_MODULE(host) { invivo::type<voice>("Voice").add(host); }
#define INVIVO_CPP_MODULE(host)                                                                                   \
    static void invivo_module_describe_(const invivo::runtime_ref &host);                                         \
    INVIVO_MODULE(invivo_module_host_, invivo_module_error_) {                                                    \
        return invivo::detail::guarded(invivo_module_error_,                                                      \
                                       [&] { invivo_module_describe_(invivo::runtime_ref(invivo_module_host_)); }); \
    }                                                                                                             \
    static void invivo_module_describe_(const invivo::runtime_ref &host)

#endif
