// invivo.hpp: Invivo for C++17: RAII handles, exceptions, and classes described by their members.
// Header-only, over the C ABI of invivo.h. Both can be mixed.
//
//     invivo::type<voice>("Voice").constructor<clock &, double>({"clock", "gain"}).property<&voice::gain>("gain").add(own.raw());
//     own.define(invivo::definition("synth.lead").of<voice>().lazy_singleton().with(invivo::by_type<clock>(), 0.5));
//     invivo::ref<voice> lead = own.resolve<voice>("synth.lead");
//
// cpp/error.hpp, object.hpp, value.hpp, type.hpp: errors, leases, values, classes. wiring.hpp, assembly.hpp,
// processor.hpp: definitions. rule.hpp, settings.hpp: rules, typed settings. trait.hpp: trait types. changes.hpp, pin.hpp,
// runtime.hpp: change sets, views, pins, runtimes.
// domain.hpp, source.hpp, module.hpp, application.hpp: domains, documents, modules, applications. pool.hpp, config.hpp,
// scope.hpp, context.hpp, graph.hpp: pools, configuration, scopes, contexts, descriptions.
#ifndef INVIVO_INVIVO_HPP
#define INVIVO_INVIVO_HPP

#if __cplusplus < 201703L
#error "invivo.hpp needs C++17 or later: compile with -std=c++17"
#else
#include "cpp/application.hpp"
#endif

#endif
