/** @file type.h
 * Descriptions of host types: memory, properties, methods. */
#ifndef INVIVO_TYPE_H
#define INVIVO_TYPE_H

#include "value.h"

INVIVO_EXTERN_C_BEGIN

enum {
    INVIVO_PROPERTY_READ_ONLY = 1, /**< cannot be set */
    INVIVO_PROPERTY_RESTART = 2,   /**< a new value takes effect when the object is next created */
    INVIVO_PROPERTY_BLOCK = 4,     /**< a field of the block (block_size), not of the instance */
    INVIVO_PROPERTY_NOT_TUNABLE = 8, /**< for definitions and the program only; a spec file that sets it is refused */
    INVIVO_PROPERTY_REQUIRED = 16, /**< of a field of a trait type (trait.h) or of settings (settings.h): a spec file must give it */
    /** Its values are secret: errors, warnings and reports show `<secret>`, and messages of host functions about a value are dropped.
     * Of a property of a type, or of a field of a trait type or of settings. */
    INVIVO_PROPERTY_SECRET = 32
};

/** The text form of the values of a property. Spec files and the configuration may then contain the text; maps and numbers
 * remain accepted. docs/rules/codecs.md describes the forms. */
enum {
    INVIVO_CODEC_NONE = 0,
    INVIVO_CODEC_SIZE = 1,     /**< a MAP of `width` and `height`: "640 x 480" */
    INVIVO_CODEC_POINT = 2,    /**< a MAP of `x` and `y`: "10, 20" */
    INVIVO_CODEC_DECIBEL = 3,  /**< a FLOAT or DOUBLE that is a linear factor: "-6 dB"; "-inf dB" is 0 */
    INVIVO_CODEC_PERCENT = 4,  /**< a FLOAT or DOUBLE that is a fraction: "50 %" is 0.5 */
    /** "#rrggbb", "#rrggbbaa", or one of the 16 basic names of CSS: an integer 0xRRGGBBAA (UINT32, INT64 or UINT64), or a MAP
     * of `red`, `green`, `blue` and perhaps `alpha`: integers of 0...255, or FLOAT and DOUBLE of 0...1. */
    INVIVO_CODEC_COLOR = 5,
    INVIVO_CODEC_DURATION = 6  /**< a number in a unit of time, by default "s": "250 ms", "1 h 30 min" */
};

/** One name of an enumeration. Several choices may have one number: the first of them is its name, the others are accepted. */
typedef struct invivo_choice { const char *name; int64_t number; } invivo_choice;

typedef struct invivo_property invivo_property;

/** A property of a type: a field at an offset, or a pair of functions.
 * INVIVO_FIELD describes a field of a plain struct. */
struct invivo_property {
    size_t struct_size;
    const char *name;
    invivo_kind kind;  /**< an integer kind with `choices` is an enumeration of that width; MAP with `fields` is a nested struct */
    uint32_t flags;    /* INVIVO_PROPERTY_... */
    uint64_t offset;   /**< offset in bytes from the start of the instance or block; used if `get` is NULL */
    /** size of the field in bytes; a STRING field is a NUL-terminated char[size], a BYTES field is uint8_t[size] (base64
     * in spec files) */
    uint64_t size;
    /** The initial value of numbers and bool. The runtime sets it in fields. Of a property with `get` and `set` it only describes what
     * `init` or the constructor sets: the setter is not called. */
    double initial;
    /** The inclusive range. It applies only if min < max. An initial value outside the range is INVIVO_E_ARGUMENT.
     * Values that `init` sets, or that `get` returns for a new object, are not checked. */
    double min, max;
    double step;       /**< a hint for editors, not enforced; 0 = none */
    const char *initial_text; /**< the initial value as text: of strings, of enumerations by name, and of others in the form of spec files: "1.2 kHz", "-6 dB" */
    const char *unit;  /**< a unit such as "Hz"; a spec file may then use 1.2 kHz */
    const char *text;  /**< a description in one line */
    const invivo_choice *choices;
    uint64_t choice_count;
    const char *const *was; /**< former names; spec files may use them, with a warning */
    uint64_t was_count;
    const invivo_property *fields; /**< of a nested struct; offsets count from the start of the nested struct */
    uint64_t field_count;
    /** Reads and writes the property, in the object's domain. `get` sets `*out` to an owned value. `set` may clamp or
     * refuse the value, which is read back. A `get` without `set` makes the property read-only. */
    invivo_status (*get)(void *instance, void *user_data, invivo_value *out, invivo_error **error);
    invivo_status (*set)(void *instance, void *user_data, const invivo_value *value, invivo_error **error);
    void *user_data;
    /** The initial value, if `initial` and `initial_text` cannot express it exactly: integers beyond 2^53, bytes.
     * NULL: those two give it, or it is zero. invivo_type_property_at returns it whenever there is an initial value. */
    const invivo_value *initial_value;
    /** Save and restore a value exactly, for languages whose values are richer than invivo_value. All three or none.
     * `capture` returns the value like `get`, and sets `*kept` to data of the host. `restore` sets exactly that value
     * from the data, any number of times. `forget` frees the data; it may run on any thread. */
    invivo_status (*capture)(void *instance, void *user_data, invivo_value *out, void **kept, invivo_error **error);
    invivo_status (*restore)(void *instance, void *user_data, void *kept, invivo_error **error);
    void (*forget)(void *user_data, void *kept);
    uint64_t reserved; /* zero */
    uint32_t codec;        /**< the text form of its values, INVIVO_CODEC_... */
    uint32_t reserved_end; /* zero */
    /** Checks a value that `set` would get, without an instance; NULL: `set` alone refuses values. It needs `set`.
     *
     * It is called for the value of a layer while a change is planned, so that a spec file with a wrong value is refused
     * before any object exists. Values that are objects, types or callables are not checked. It runs on a thread of the
     * library, must return at once, and must not call the runtime. A failure refuses the value. */
    invivo_status (*verify)(void *user_data, const invivo_value *value, invivo_error **error);
};

/** A parameter of an initializer, a method or a definition. */
typedef struct invivo_parameter {
    const char *name;
    invivo_kind kind;      /**< INVIVO_KIND_ANY: any kind */
    uint32_t flags;        /**< INVIVO_PARAMETER_... */
    const char *type_name; /**< for objects: the expected type; may be NULL */
} invivo_parameter;

/** Flags of invivo_parameter. */
enum {
    INVIVO_PARAMETER_OPTIONAL = 1, /**< the argument may be null or left out */
    /** Its values are secret: errors show `<secret>`, also those of the function that receives one. */
    INVIVO_PARAMETER_SECRET = 2
};

/** A method of a type. */
typedef struct invivo_method {
    size_t struct_size;
    const char *name;
    const char *text;
    const invivo_parameter *parameters; /**< arguments are checked and converted before the call */
    uint64_t parameter_count;
    invivo_kind result;                 /**< INVIVO_KIND_ANY if it varies; INVIVO_KIND_NULL for none */
    invivo_status (*call)(void *instance, void *user_data, const invivo_value *arguments, size_t count,
                          invivo_value *result, invivo_error **error);
    void *user_data;
} invivo_method;

/** Information for a constructor about the object that it creates. Valid during the call. */
typedef struct invivo_build {
    size_t struct_size;
    invivo_runtime runtime;
    invivo_key key;   /**< zero if there is no definition */
    invivo_type type;
    invivo_key asker; /**< the key of the object for which this object is created (the requester); zero if there is none */
    /** Bit i: argument i was given, by the definition or by a resolve. A null argument is then an explicit null. Without
     * the bit, the argument was left out. The last bit stands for all further arguments. Zero for a decorator and for
     * `inject`. */
    uint64_t given;
    uint32_t flags; /* INVIVO_BUILD_... */
    uint32_t reserved;
    /** The object that the new one replaces, borrowed during the call; zero if there is none.
     *
     * It is set while a commit creates a shared object for a key that has one: for the same runtime arguments, scope
     * instance or entry of `each`, and of exactly the same type. If the type has changed, it is zero, and the report has
     * a warning. `init`, `make`, a factory and `inject` receive it; decorators do not. An object that is first resolved
     * after the commit has none: the former object is stopped by then.
     *
     * Copy from it, and change or move nothing: it is in use until the commit succeeds, and stays if the commit fails.
     * Changes that it receives after the copy are lost. Keep such state in a block or in an object of its own, or make the
     * definition exclusive: the former object is then stopped before the new one is created. To use it after the call,
     * take a lease (invivo_object_retain). */
    invivo_object former;
    const void *former_instance; /**< the instance of `former`, for reading; NULL if there is none */
} invivo_build;
enum {
    INVIVO_BUILD_SHARED = 1 /**< the object is shared beyond the outermost resolve: its scope is neither prototype nor graph */
};

enum {
    INVIVO_CONFINED = 0, /**< used only in its domain */
    /** Safe to read on every thread; never changed in place. Tunable values of a shared object are in its block, or take
     * effect when the object is next created (INVIVO_PROPERTY_RESTART). A spec file that sets another property is
     * refused. */
    INVIVO_SHARED = 1
};

/** Options of invivo_type_register. */
typedef struct invivo_type_options {
    size_t struct_size;
    const char *name;
    const char *text;
    const char *const *supertypes; /**< names of its supertypes and interfaces; they need not be registered */
    uint64_t supertype_count;
    uint32_t concurrency;          /* INVIVO_CONFINED or INVIVO_SHARED */
    uint32_t reserved;
    invivo_domain domain;          /**< of confined objects; zero = the default of the runtime */

    /** Memory model 1, for `size` > 0: the runtime allocates `size` zeroed bytes, sets the initial values of the
     * properties, and calls `init`. At the end it calls `deinit`. Both may be NULL. If `init` fails, `deinit` is not
     * called. The alignment is a power of two; 0 = 16, as for malloc. */
    uint64_t size, alignment;
    invivo_status (*init)(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                          void *user_data, invivo_error **error);
    void (*deinit)(void *instance, void *user_data);
    /** Memory model 2, for `size` 0: `make` returns an instance with one reference, which `release` drops, once. Both
     * are required. */
    invivo_status (*make)(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                          void *user_data, invivo_error **error);
    void (*release)(void *instance, void *user_data);

    uint64_t block_size;           /**< size of the block in bytes; 0 = none. Its fields have the flag INVIVO_PROPERTY_BLOCK */

    const invivo_parameter *parameters; /**< of init or make */
    uint64_t parameter_count;
    const invivo_property *properties;
    uint64_t property_count;
    const invivo_method *methods;
    uint64_t method_count;

    /** Start and stop an object. Each may be NULL.
     *
     * When all objects of an outermost resolve (or a commit) are complete, `prepare` below runs for each of them, then
     * `start`. An object starts after the objects that were injected into it. Independent objects of shared types start
     * in parallel, on temporary threads. Confined objects start one after the other in their domain. No other code
     * receives an object before it is started.
     *
     * If a start fails, or exceeds its timeout, the started objects are stopped in reverse order, and the resolve or
     * commit fails. `stop` runs once, before the object is disposed of and before its dependencies are stopped. An
     * object is started only once. */
    invivo_status (*start)(void *instance, void *user_data, invivo_error **error);
    invivo_status (*stop)(void *instance, void *user_data, invivo_error **error);

    void *user_data;                   /**< passed to init, deinit, make, release, start, stop */
    void (*destroy)(void *user_data);  /**< called once, when the type is gone; may be NULL */

    /** Run before and after injection, by a definition or by invivo_inject. Each may be NULL.
     * `did_inject` runs when all objects of the outermost resolve are complete, children before parents. */
    invivo_status (*will_inject)(void *instance, void *user_data, invivo_error **error);
    invivo_status (*did_inject)(void *instance, void *user_data, invivo_error **error);
    /** Weak references to instances of memory model 2. All three or none.
     *
     * With them, a weak singleton lives as long as the host language refers to its instance, with or without handles.
     * `weak_load` returns an instance with one reference, or NULL if it is gone. They run without locks held. They are
     * not called for types with `stop`: such an object is stopped when its last claim ends, unless `count_references`
     * reports further references. A stopped object is never resolved again. */
    void *(*weak_make)(void *instance, void *user_data);
    void *(*weak_load)(void *weak, void *user_data);
    void (*weak_free)(void *weak, void *user_data);

    /** `block_size` bytes: the initial content of the block, including padding; NULL = zeros. A block property without
     * its own initial value takes it from here. */
    const void *block_initial;

    /** The type needs: injections (wiring.h) for each object of the type, by property name.
     *
     * They apply whenever an object of the type is created or injected, before the injections of its definition. If a
     * definition injects the same property, that injection wins. They also apply without a definition: in
     * invivo_object_make and invivo_inject, and to objects that a factory or a method of another object returns. They
     * do not apply to constants. INVIVO_RUNTIME_WITHOUT_NEEDS turns them off. A reload does not inject again into
     * objects without a definition. */
    const struct invivo_injection *needs;
    uint64_t need_count;

    /** For invivo_inject_tree. Each may be NULL. `child` returns the child number `index` with one lease for the caller,
     * and zero after the last. `key_name` returns the key for an instance, borrowed during the call, or NULL. */
    invivo_status (*child)(void *instance, void *user_data, uint64_t index, invivo_object *out, invivo_error **error);
    invivo_status (*key_name)(void *instance, void *user_data, const char **out, invivo_error **error);
    /** Prepares an object, before any object of the commit is started. May be NULL.
     * It may fail, and must have no outside effect: if another step fails, the object is disposed of without `stop`. */
    invivo_status (*prepare)(void *instance, void *user_data, invivo_error **error);
    /** Passes the runtime to an object that resolves later. May be NULL.
     * Called once per object, after the `after_all` hooks of its definition and before `did_inject`. The handle is
     * valid while the runtime is open. */
    invivo_status (*take_runtime)(void *instance, void *user_data, invivo_runtime runtime, invivo_error **error);
    /** Counts the references to an instance, for languages with their own reference counts (memory model 2). May be
     * NULL.
     *
     * Sets `*out` to the number of references that are not the runtime's. Used only for types with `stop`.
     * The first call is right after the creation of a shared object. The runtime calls it again for retired objects
     * (replaced or removed ones) and for weak singletons without leases. It does not stop such an object while the number
     * is greater than in the first call; for retired objects, at most for `stop_grace_ms` (runtime.h). If the call fails, the
     * object is treated as referenced. Runs in the object's domain without locks held. It must not call the runtime. */
    invivo_status (*count_references)(void *instance, void *user_data, uint64_t *out, invivo_error **error);
    /** The type name under which lookups find definitions of this type as an exact match; NULL = `name`. Use it for a
     * type that replaces another one, and whose objects differ only in their creation and disposal. */
    const char *lookup_name;
    /** Sets an object up, and tears it down again. Each may be NULL. setup.h describes both.
     *
     * `setup` runs after `start`, in the object's domain, and again in each reload that changes something that belongs to the
     * object. It may register effects and create children, which belong to the object. `teardown` runs before each further
     * `setup`, and before `stop`; then the effects are undone. If `setup` fails, the start or reload fails. */
    invivo_status (*setup)(void *instance, void *user_data, invivo_error **error);
    invivo_status (*teardown)(void *instance, void *user_data, invivo_error **error);
    /** Called once per commit, after it, in the object's domain, if the object stays and something that it uses was
     * replaced. An error is a warning of the report. May be NULL; see setup.h. */
    invivo_status (*refresh)(void *instance, void *user_data, invivo_error **error);
    /** For values that depend on other values. Called after `setup` and after `refresh`, and after a commit that set
     * properties of the object. An error fails the start; after a commit it is a warning of the report. May be NULL. */
    invivo_status (*finalize)(void *instance, void *user_data, invivo_error **error);
    uint32_t keeps_children; /**< 1: the object is not set up again when its children change, see setup.h */
    uint32_t reserved_end;   /**< 0 */
    /** Returns the object in which an object stands, such as its window or view, with one lease for the caller; zero for none. May
     * be NULL. invivo_context_of follows it. Called in the object's domain without locks held. */
    invivo_status (*parent)(void *instance, void *user_data, invivo_object *out, invivo_error **error);
} invivo_type_options;

/** Registers a type.
 * Everything is copied except functions and user_data. `out` may be NULL. A name that is in use is INVIVO_E_EXISTS, and
 * `destroy` is not called. Contradictory tables of properties or parameters are INVIVO_E_ARGUMENT, and so is a table of
 * properties or methods with count 0. */
INVIVO_API invivo_status invivo_type_register(invivo_runtime runtime, const invivo_type_options *options, invivo_type *out,
                                              invivo_error **error) INVIVO_WAITS;
/** Finds a type by name. An unknown name is INVIVO_E_NOT_FOUND; the error names the nearest one. */
INVIVO_API invivo_status invivo_type_find(invivo_runtime runtime, const char *name, invivo_type *out,
                                          invivo_error **error) INVIVO_WAITS;
/** Adds a supertype to a registered type.
 * Lookups for the supertype then find its definitions. Existing bindings do not change, so call it before defining
 * dependents. Repeating the call is a no-op. */
INVIVO_API invivo_status invivo_type_extend(invivo_runtime runtime, invivo_type type, const char *supertype,
                                            invivo_error **error) INVIVO_WAITS;
/** Returns the name of a type, borrowed while the runtime lives; NULL for an invalid handle. */
INVIVO_API const char *invivo_type_name(invivo_type type) INVIVO_WAITS;
/** Returns the number of properties of a type. */
INVIVO_API uint64_t invivo_type_property_count(invivo_type type) INVIVO_WAITS;
/** Copies the description of a property.
 * Its strings and tables are borrowed while the runtime lives. The caller sets `out->struct_size` to the size of its
 * struct; 0 = this version. A size that belongs to no version is INVIVO_E_ARGUMENT, and nothing is written. */
INVIVO_API invivo_status invivo_type_property_at(invivo_type type, uint64_t index, invivo_property *out) INVIVO_WAITS;
/** Returns the number of parameters of `init` or `make`. */
INVIVO_API uint64_t invivo_type_parameter_count(invivo_type type) INVIVO_WAITS;
/** Copies the description of a parameter of `init` or `make`. */
INVIVO_API invivo_status invivo_type_parameter_at(invivo_type type, uint64_t index, invivo_parameter *out) INVIVO_WAITS;
/** Returns the number of methods of a type. */
INVIVO_API uint64_t invivo_type_method_count(invivo_type type) INVIVO_WAITS;
/** Copies the description of a method. Set `out->struct_size` as for invivo_type_property_at. */
INVIVO_API invivo_status invivo_type_method_at(invivo_type type, uint64_t index, invivo_method *out) INVIVO_WAITS;

/** Writes a value of a property as text: by the codec of the property, with its unit, or by the name of a choice.
 *
 * invivo_property_read returns an equal value. A value that its codec cannot express is written as a number or as JSON.
 * @param property the name of a property of `type`, or a former name. "frame.width" names a field of a nested struct.
 * @param out the text, an owned string. Objects, types and functions have no text: INVIVO_E_UNSUPPORTED. */
INVIVO_API invivo_status invivo_property_text(invivo_type type, const char *property, const invivo_value *value,
                                              invivo_value *out, invivo_error **error) INVIVO_WAITS;
/** Reads a value of a property from text, as a spec file does, and checks it.
 * Text that is no value of the property is INVIVO_E_CONVERSION or INVIVO_E_TYPE; the error states what was expected. A value
 * that the property refuses is the error of invivo_object_set. */
INVIVO_API invivo_status invivo_property_read(invivo_type type, const char *property, const char *text, uint64_t length,
                                              invivo_value *out, invivo_error **error) INVIVO_WAITS;

/* ---- describing fields of a C struct ----------------------------------------------------------------- */

/** Describes a field of a struct: INVIVO_FIELD(structure, field, .min = 0, .max = 1, ...).
 *
 * The compiler supplies kind, offset and size. Further arguments are members of invivo_property, in its order, from
 * `initial` on. INVIVO_BLOCK_FIELD describes a field of the block; INVIVO_FLAGGED_FIELD takes flags. They work in C,
 * and in C++17 or later with gcc and clang. */
#define INVIVO_FIELD(structure, ...) INVIVO_FIELD_(structure, 0, __VA_ARGS__, .reserved = 0)
#define INVIVO_BLOCK_FIELD(structure, ...) INVIVO_FIELD_(structure, INVIVO_PROPERTY_BLOCK, __VA_ARGS__, .reserved = 0)
#define INVIVO_FLAGGED_FIELD(structure, property_flags, ...) INVIVO_FIELD_(structure, property_flags, __VA_ARGS__, .reserved = 0)

/* INVIVO_KIND_OF(expression): the kind of a field. Integers map by width and sign, enumerations by their underlying
 * integer.
 * char[] is STRING, uint8_t[] is BYTES, and a struct is MAP, which requires `fields`. Other types (pointers, long
 * double, other arrays) are refused: in C++ by the compiler, in C at registration, as a MAP without fields. */

#ifdef __cplusplus
INVIVO_EXTERN_C_END

template <typename T> struct invivo_plain { typedef T type; };
template <typename T> struct invivo_plain<T &> : invivo_plain<T> {};
template <typename T> struct invivo_plain<const T> : invivo_plain<T> {};
template <typename T> struct invivo_plain<volatile T> : invivo_plain<T> {};
template <typename T> struct invivo_plain<const volatile T> : invivo_plain<T> {};

/** Has a `value` for each type that a field can have. */
template <typename T, bool is_enumeration = __is_enum(T), bool is_struct = __is_class(T)> struct invivo_kind_of_type {};
template <typename T> struct invivo_kind_of_type<T, true, false> : invivo_kind_of_type<__underlying_type(T)> {};
template <typename T> struct invivo_kind_of_type<T, false, true> { enum { value = INVIVO_KIND_MAP }; };
#define INVIVO_KIND_OF_INTEGER_(T, SIGN)                                                                              \
    template <> struct invivo_kind_of_type<T, false, false> {                                                         \
        enum {                                                                                                        \
            value = sizeof(T) == 1   ? INVIVO_KIND_##SIGN##8                                                          \
                    : sizeof(T) == 2 ? INVIVO_KIND_##SIGN##16                                                         \
                    : sizeof(T) == 4 ? INVIVO_KIND_##SIGN##32                                                         \
                                     : INVIVO_KIND_##SIGN##64                                                         \
        };                                                                                                            \
    };
INVIVO_KIND_OF_INTEGER_(signed char, INT)
INVIVO_KIND_OF_INTEGER_(short, INT)
INVIVO_KIND_OF_INTEGER_(int, INT)
INVIVO_KIND_OF_INTEGER_(long, INT)
INVIVO_KIND_OF_INTEGER_(long long, INT)
INVIVO_KIND_OF_INTEGER_(unsigned char, UINT)
INVIVO_KIND_OF_INTEGER_(unsigned short, UINT)
INVIVO_KIND_OF_INTEGER_(unsigned, UINT)
INVIVO_KIND_OF_INTEGER_(unsigned long, UINT)
INVIVO_KIND_OF_INTEGER_(unsigned long long, UINT)
#undef INVIVO_KIND_OF_INTEGER_
template <> struct invivo_kind_of_type<bool, false, false> { enum { value = INVIVO_KIND_BOOL }; };
template <> struct invivo_kind_of_type<float, false, false> { enum { value = INVIVO_KIND_FLOAT }; };
template <> struct invivo_kind_of_type<double, false, false> { enum { value = INVIVO_KIND_DOUBLE }; };
template <size_t N> struct invivo_kind_of_type<char[N], false, false> { enum { value = INVIVO_KIND_STRING }; };
template <size_t N> struct invivo_kind_of_type<const char[N], false, false> { enum { value = INVIVO_KIND_STRING }; };
template <size_t N> struct invivo_kind_of_type<unsigned char[N], false, false> { enum { value = INVIVO_KIND_BYTES }; };
template <size_t N> struct invivo_kind_of_type<const unsigned char[N], false, false> { enum { value = INVIVO_KIND_BYTES }; };
#define INVIVO_KIND_OF(expression) ((invivo_kind)invivo_kind_of_type<invivo_plain<decltype((expression))>::type>::value)

/** The optional members of a field description, in the order of invivo_property. All have defaults. */
struct invivo_property_facts {
    double initial = 0, min = 0, max = 0, step = 0;
    const char *initial_text = nullptr, *unit = nullptr, *text = nullptr;
    const invivo_choice *choices = nullptr;
    uint64_t choice_count = 0;
    const char *const *was = nullptr;
    uint64_t was_count = 0;
    const invivo_property *fields = nullptr;
    uint64_t field_count = 0;
    const invivo_value *initial_value = nullptr;
    uint32_t codec = INVIVO_CODEC_NONE;
    uint64_t reserved = 0;
};

constexpr invivo_property invivo_field(const char *name, invivo_kind kind, uint32_t flags, uint64_t offset, uint64_t size,
                                       const invivo_property_facts &facts) {
    invivo_property made{};
    made.struct_size = sizeof(made), made.name = name, made.kind = kind, made.flags = flags;
    made.offset = offset, made.size = size;
    made.initial = facts.initial, made.min = facts.min, made.max = facts.max, made.step = facts.step;
    made.initial_text = facts.initial_text, made.unit = facts.unit, made.text = facts.text;
    made.choices = facts.choices, made.choice_count = facts.choice_count, made.was = facts.was, made.was_count = facts.was_count;
    made.fields = facts.fields, made.field_count = facts.field_count, made.initial_value = facts.initial_value;
    made.codec = facts.codec;
    return made;
}

#define INVIVO_FIELD_(structure, property_flags, field, ...)                                                          \
    invivo_field(#field, INVIVO_KIND_OF(((structure *)0)->field), property_flags, offsetof(structure, field),         \
                 sizeof(((structure *)0)->field), __extension__ invivo_property_facts{__VA_ARGS__})

INVIVO_EXTERN_C_BEGIN
#else
#define INVIVO_FIELD_(structure, property_flags, field, ...)                                                          \
    {                                                                                                                 \
        .struct_size = sizeof(invivo_property), .name = #field, .kind = INVIVO_KIND_OF(((structure *)0)->field),      \
        .flags = property_flags, .offset = offsetof(structure, field), .size = sizeof(((structure *)0)->field),       \
        __VA_ARGS__                                                                                                   \
    }
#define INVIVO_IS_(expression, T) __builtin_types_compatible_p(__typeof__(expression), T)
#define INVIVO_KIND_OF(expression)                                                                              \
    ((invivo_kind)(INVIVO_IS_(expression, bool)       ? INVIVO_KIND_BOOL                                        \
                   : INVIVO_IS_(expression, int8_t)   ? INVIVO_KIND_INT8                                        \
                   : INVIVO_IS_(expression, int16_t)  ? INVIVO_KIND_INT16                                       \
                   : INVIVO_IS_(expression, int32_t)  ? INVIVO_KIND_INT32                                       \
                   : INVIVO_IS_(expression, long)     ? (sizeof(long) == 8 ? INVIVO_KIND_INT64 : INVIVO_KIND_INT32) \
                   : INVIVO_IS_(expression, long long) ? INVIVO_KIND_INT64                                      \
                   : INVIVO_IS_(expression, uint8_t)  ? INVIVO_KIND_UINT8                                       \
                   : INVIVO_IS_(expression, uint16_t) ? INVIVO_KIND_UINT16                                      \
                   : INVIVO_IS_(expression, uint32_t) ? INVIVO_KIND_UINT32                                      \
                   : INVIVO_IS_(expression, unsigned long)                                                      \
                       ? (sizeof(long) == 8 ? INVIVO_KIND_UINT64 : INVIVO_KIND_UINT32)                          \
                   : INVIVO_IS_(expression, unsigned long long) ? INVIVO_KIND_UINT64                            \
                   : INVIVO_IS_(expression, float)    ? INVIVO_KIND_FLOAT                                       \
                   : INVIVO_IS_(expression, double)   ? INVIVO_KIND_DOUBLE                                      \
                   : INVIVO_IS_(expression, char[]) || INVIVO_IS_(expression, const char[]) ? INVIVO_KIND_STRING \
                   : INVIVO_IS_(expression, uint8_t[]) || INVIVO_IS_(expression, const uint8_t[]) ? INVIVO_KIND_BYTES \
                                                      : INVIVO_KIND_MAP))
#endif

INVIVO_EXTERN_C_END

#endif
