/* events.h: libyaml's events of a text, the peer of everything that reads documents. */
#ifndef EVENTS_H
#define EVENTS_H

#include "row.h"
#include <yaml.h>

/* Reads all events of a text, microseconds: the best of some passes. */
static inline double event_pass(const char *text, size_t length, int passes) {
    double best = 0;
    for (int i = 0; i < passes; i++) {
        double begun = cpu_ns();
        yaml_parser_t parser;
        yaml_event_t event;
        yaml_event_type_t type;
        yaml_parser_initialize(&parser);
        yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
        do {
            if (!yaml_parser_parse(&parser, &event)) exit(1);
            type = event.type;
            yaml_event_delete(&event);
        } while (type != YAML_STREAM_END_EVENT);
        yaml_parser_delete(&parser);
        double took = (cpu_ns() - begun) / 1e3;
        if (i == 0 || took < best) best = took;
    }
    return best;
}

#endif
