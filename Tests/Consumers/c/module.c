/* A typical user module: a plain struct, described by its fields. */
#include <invivo/invivo.h>

typedef struct {
    double frequency;
} oscillator;

INVIVO_MODULE(runtime, error) {
    static const invivo_property properties[] = {
        INVIVO_FIELD(oscillator, frequency, .initial = 440, .min = 20, .max = 20000, .unit = "Hz")};
    invivo_type_options type = {0};
    type.struct_size = sizeof(type);
    type.name = "Oscillator";
    type.size = sizeof(oscillator);
    type.alignment = sizeof(double);
    type.properties = properties;
    type.property_count = 1;
    return invivo_type_register(runtime, &type, NULL, error);
}
