/* type.h: describing kinds of host objects: memory, properties, methods. */
#ifndef INVIVO_TYPE_H
#define INVIVO_TYPE_H

#include "value.h"

INVIVO_EXTERN_C_BEGIN

enum {
    INVIVO_PROPERTY_READ_ONLY = 1, /* cannot be set */
    INVIVO_PROPERTY_RESTART = 2,   /* a new value takes effect when the object is next made */
    INVIVO_PROPERTY_BLOCK = 4,     /* lives in the block (block_size), not in the instance */
    INVIVO_PROPERTY_NOT_TUNABLE = 8 /* for definitions and the program: a spec file that sets it is refused */
};

/* One name of an enumeration. */
typedef struct invivo_choice { const char *name; int64_t number; } invivo_choice;

typedef struct invivo_property invivo_property;

/* A property: a field at an offset of a plain struct, or a pair of functions. INVIVO_FIELD fills the first kind. */
struct invivo_property {
    size_t struct_size;
    const char *name;
    invivo_kind kind;  /* an integer kind with `choices` is an enumeration of that width; MAP with `fields` a nested struct */
    uint32_t flags;    /* INVIVO_PROPERTY_... */
    uint64_t offset;   /* bytes from the start of instance or block; used when `get` is NULL */
    uint64_t size;     /* bytes of the field. STRING by offset is char[size], NUL-terminated; BYTES is uint8_t[size], in
                          specs a text in base64 */
    double initial;    /* the value at the start, numbers and bool */
    double min, max;   /* inclusive; there is a range only where min < max. An initial value outside of it is INVIVO_E_ARGUMENT;
                          what `init` sets, or `get` answers of a new object, is not checked */
    double step;       /* a hint for editors, not enforced; 0 = none */
    const char *initial_text; /* the value at the start: strings, and enumerations by name */
    const char *unit;  /* "Hz"; a spec may then say 1.2 kHz */
    const char *text;  /* one line for people */
    const invivo_choice *choices;
    uint64_t choice_count;
    const char *const *was; /* former names, accepted in specs with a warning */
    uint64_t was_count;
    const invivo_property *fields; /* of a nested struct; offsets count from the start of the nested struct */
    uint64_t field_count;
    /* Read and write by function; called in the object's domain. `*out` becomes an owned value. `set` may clamp or
     * refuse; the value is read back. NULL `set` with a `get` means read only. */
    invivo_status (*get)(void *instance, void *user_data, invivo_value *out, invivo_error **error);
    invivo_status (*set)(void *instance, void *user_data, const invivo_value *value, invivo_error **error);
    void *user_data;
    /* The value at the start where `initial` and `initial_text` cannot say it exactly: integers beyond 2^53, bytes. NULL:
     * they say it; else they stay zero. Answered by invivo_type_property_at wherever there is a value. */
    const invivo_value *initial_value;
    /* For properties by function whose values say more than an invivo_value does, as an interpreter's do; all three or none.
     * `capture` answers what `get` does and sets `*kept` to what `restore` needs to put exactly that back, any number of
     * times, until `forget`, which may be called on any thread. */
    invivo_status (*capture)(void *instance, void *user_data, invivo_value *out, void **kept, invivo_error **error);
    invivo_status (*restore)(void *instance, void *user_data, void *kept, invivo_error **error);
    void (*forget)(void *user_data, void *kept);
    uint64_t reserved; /* zero */
};

typedef struct invivo_parameter {
    const char *name;
    invivo_kind kind;      /* INVIVO_KIND_ANY: whatever comes */
    uint32_t flags;        /* INVIVO_PARAMETER_OPTIONAL: may be left out or null */
    const char *type_name; /* for objects: the type wanted; may be NULL */
} invivo_parameter;

enum { INVIVO_PARAMETER_OPTIONAL = 1 };

typedef struct invivo_method {
    size_t struct_size;
    const char *name;
    const char *text;
    const invivo_parameter *parameters; /* arguments are checked and converted before the call */
    uint64_t parameter_count;
    invivo_kind result;                 /* INVIVO_KIND_ANY when it varies; INVIVO_KIND_NULL for none */
    invivo_status (*call)(void *instance, void *user_data, const invivo_value *arguments, size_t count,
                          invivo_value *result, invivo_error **error);
    void *user_data;
} invivo_method;

/* What a constructor may ask about the object it makes. Valid during the call. */
typedef struct invivo_build {
    size_t struct_size;
    invivo_runtime runtime;
    invivo_key key;   /* zero when made without a definition */
    invivo_type type;
    invivo_key asker; /* for whom it is made; zero when nobody's making asked for it */
    /* Bit i: argument i was given, by the definition or by a resolve, so a null there is an explicit one. Without the bit the
     * argument was left out. The last bit stands for all further arguments. Zero for a decorator and for `inject`. */
    uint64_t given;
    uint32_t flags; /* INVIVO_BUILD_... */
    uint32_t reserved;
} invivo_build;
enum {
    INVIVO_BUILD_SHARED = 1 /* the object is shared beyond the outermost resolve: its scope is neither prototype nor graph */
};

enum {
    INVIVO_CONFINED = 0, /* touched only in its domain */
    INVIVO_SHARED = 1    /* any thread may read it; never mutated in place: what is tunable lives in its block, or waits for
                            the next making (INVIVO_PROPERTY_RESTART); another property is refused in specs */
};

typedef struct invivo_type_options {
    size_t struct_size;
    const char *name;
    const char *text;
    const char *const *supertypes; /* names of types and interfaces it also is; need not be registered */
    uint64_t supertype_count;
    uint32_t concurrency;          /* INVIVO_CONFINED or INVIVO_SHARED */
    uint32_t reserved;
    invivo_domain domain;          /* of confined objects; zero = the runtime's default */

    /* Memory, first way: the runtime allocates `size` zeroed bytes, sets the properties' initial values, calls init
     * (may be NULL) and at the end deinit (may be NULL). An init that fails leaves nothing that needs deinit. The alignment is a
     * power of two; 0 = 16, as malloc's. */
    uint64_t size, alignment;
    invivo_status (*init)(void *instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                          void *user_data, invivo_error **error);
    void (*deinit)(void *instance, void *user_data);
    /* Second way (size 0): make answers an instance with one reference, which release gives back, once. Both are needed. */
    invivo_status (*make)(void **instance, const invivo_build *build, const invivo_value *arguments, size_t count,
                          void *user_data, invivo_error **error);
    void (*release)(void *instance, void *user_data);

    uint64_t block_size;           /* bytes of the block; 0 = none. Fields of it are flagged INVIVO_PROPERTY_BLOCK */

    const invivo_parameter *parameters; /* of init or make */
    uint64_t parameter_count;
    const invivo_property *properties;
    uint64_t property_count;
    const invivo_method *methods;
    uint64_t method_count;

    /* Life; each may be NULL. When everything that the outermost resolve (or a commit) makes is complete, `prepare` below runs
     * for each object, then start, each after those of what its object got injected: independent ones of shared types at the
     * same time, on threads that exist only while they are needed, confined ones one after the other in their domain. Nobody
     * else gets an object before it is started. A start that fails, or takes longer than its deadline, stops those that had
     * been started, in reverse, and fails the resolve or the commit. stop runs once, before the object is disposed of and
     * before what was injected into it is stopped. An object is started once, however often that is asked for. */
    invivo_status (*start)(void *instance, void *user_data, invivo_error **error);
    invivo_status (*stop)(void *instance, void *user_data, invivo_error **error);

    void *user_data;                   /* handed to init, deinit, make, release, start, stop */
    void (*destroy)(void *user_data);  /* once, when the type is gone; may be NULL */

    /* Around injection, by definition or invivo_inject; each may be NULL. did_inject runs when everything that the outermost
     * resolve makes is complete, children before parents. */
    invivo_status (*will_inject)(void *instance, void *user_data, invivo_error **error);
    invivo_status (*did_inject)(void *instance, void *user_data, invivo_error **error);
    /* Weak references to instances that are counted elsewhere (the second way of memory): with them a weak singleton lives
     * as long as somebody holds the instance, whatever handles there are. weak_load answers an instance with one reference,
     * or NULL when it is gone; all three or none. Called without locks held. Not called for types with `stop`: an object is stopped when its last
     * claim goes, unless `count_references` below says that it is still referred to, and a stopped one is not resolved again. */
    void *(*weak_make)(void *instance, void *user_data);
    void *(*weak_load)(void *weak, void *user_data);
    void (*weak_free)(void *weak, void *user_data);

    /* `block_size` bytes: what the block holds at the start, also between its properties; NULL = zeros. The initial value of
     * a property of the block that has none of its own is read from it. */
    const void *block_initial;

    /* What its objects need: a table of injections (wiring.h), `name` being a property. Filled wherever one of its objects is
     * made or injected, before what a definition injects, whose own injection of the same property wins; also where it has no
     * definition: by invivo_object_make and invivo_inject, and in what a factory or another object's method answers. Not in
     * objects that are constants. Turned off for a runtime by INVIVO_RUNTIME_WITHOUT_NEEDS. What nobody defined is not
     * injected again when a reload changes what it got. */
    const struct invivo_injection *needs;
    uint64_t need_count;

    /* For invivo_inject_tree; each may be NULL. `child` answers the child number `index` with one lease for the caller, zero
     * after the last; `key_name` the key by which an instance wants to be injected, borrowed during the call, or NULL. */
    invivo_status (*child)(void *instance, void *user_data, uint64_t index, invivo_object *out, invivo_error **error);
    invivo_status (*key_name)(void *instance, void *user_data, const char **out, invivo_error **error);
    /* Before anything that a commit makes is started; may be NULL. It may fail, and has no effect outside: when something
     * else fails afterwards the object is disposed of, and stop is not called. */
    invivo_status (*prepare)(void *instance, void *user_data, invivo_error **error);
    /* Hands the runtime over, for whoever wants to resolve later: once for each object, after the hooks `after_all` of its
     * definition and before did_inject; may be NULL. The handle is valid as long as the runtime is open. */
    invivo_status (*take_runtime)(void *instance, void *user_data, invivo_runtime runtime, invivo_error **error);
    /* For languages that count references to instances themselves (the second way of memory); may be NULL. Sets `*out` to the
     * number of references to the instance, without the one that the runtime has. Used for types with `stop`: called once
     * when a shared object has been created, before anything else receives it, and then only about retired objects, that is
     * objects that were replaced or removed, and about weak singletons without leases. These are not stopped while this number
     * is greater than it was at first, retired objects for at most `stop_grace_ms` (runtime.h). If the call fails, the object is
     * treated as referenced. Called in the object's domain without locks held. It must not call the runtime. */
    invivo_status (*count_references)(void *instance, void *user_data, uint64_t *out, invivo_error **error);
    /* The name by which lookups by type find definitions of this type as those of the exact type; NULL = `name`. For a type
     * that stands for another one, whose objects differ only in how they are created and ended. */
    const char *lookup_name;
} invivo_type_options;

/* Registers a type; everything is copied except functions and user_data; `out` may be NULL. A taken name is
 * INVIVO_E_EXISTS (and `destroy` is not called); property or parameter tables that contradict themselves are
 * INVIVO_E_ARGUMENT, and so is a table of properties or methods whose count is 0. */
INVIVO_API invivo_status invivo_type_register(invivo_runtime runtime, const invivo_type_options *options, invivo_type *out,
                                              invivo_error **error) INVIVO_WAITS;
/* By name; an unknown one is INVIVO_E_NOT_FOUND and names the nearest. */
INVIVO_API invivo_status invivo_type_find(invivo_runtime runtime, const char *name, invivo_type *out,
                                          invivo_error **error) INVIVO_WAITS;
/* Says that a registered type is something more: an interface that is found out about when somebody asks for it. From now on
 * its definitions are found by that name too; nothing is bound anew, so say it before what looks for it is defined. Saying it
 * again does nothing. */
INVIVO_API invivo_status invivo_type_extend(invivo_runtime runtime, invivo_type type, const char *supertype,
                                            invivo_error **error) INVIVO_WAITS;
/* Borrowed while the runtime lives; NULL for a bad handle. */
INVIVO_API const char *invivo_type_name(invivo_type type) INVIVO_WAITS;
INVIVO_API uint64_t invivo_type_property_count(invivo_type type) INVIVO_WAITS;
/* A copy of the description; strings and tables in it are borrowed while the runtime lives. The caller sets `out->struct_size`
 * to what it has room for; 0 means this version's. A size that no version has is INVIVO_E_ARGUMENT, and nothing is written. */
INVIVO_API invivo_status invivo_type_property_at(invivo_type type, uint64_t index, invivo_property *out) INVIVO_WAITS;
/* What `init` or `make` takes. */
INVIVO_API uint64_t invivo_type_parameter_count(invivo_type type) INVIVO_WAITS;
INVIVO_API invivo_status invivo_type_parameter_at(invivo_type type, uint64_t index, invivo_parameter *out) INVIVO_WAITS;
INVIVO_API uint64_t invivo_type_method_count(invivo_type type) INVIVO_WAITS;
/* `out->struct_size` as for a property. */
INVIVO_API invivo_status invivo_type_method_at(invivo_type type, uint64_t index, invivo_method *out) INVIVO_WAITS;

/* ---- describing fields of a C struct ----------------------------------------------------------------- */

/* INVIVO_FIELD(structure, field, .min = 0, .max = 1, ...): kind, offset and size come from the compiler. The others name
 * their members in the order of invivo_property, from `initial` on. _BLOCK_FIELD is for fields of the block, _FLAGGED_ takes
 * the flags. In C++ (17 or later, as gcc and clang have it) they make the same. */
#define INVIVO_FIELD(structure, ...) INVIVO_FIELD_(structure, 0, __VA_ARGS__, .reserved = 0)
#define INVIVO_BLOCK_FIELD(structure, ...) INVIVO_FIELD_(structure, INVIVO_PROPERTY_BLOCK, __VA_ARGS__, .reserved = 0)
#define INVIVO_FLAGGED_FIELD(structure, property_flags, ...) INVIVO_FIELD_(structure, property_flags, __VA_ARGS__, .reserved = 0)

/* INVIVO_KIND_OF(expression): the kind of a field. Integers are told by width and sign, enumerations by those of the integer
 * behind them; char[] is a STRING, uint8_t[] BYTES, a struct a MAP, which needs `fields`. What is none of these (a pointer, a
 * long double, another array) is refused: in C++ by the compiler, in C as a MAP without fields when the type is registered. */

#ifdef __cplusplus
INVIVO_EXTERN_C_END

template <typename T> struct invivo_plain { typedef T type; };
template <typename T> struct invivo_plain<T &> : invivo_plain<T> {};
template <typename T> struct invivo_plain<const T> : invivo_plain<T> {};
template <typename T> struct invivo_plain<volatile T> : invivo_plain<T> {};
template <typename T> struct invivo_plain<const volatile T> : invivo_plain<T> {};

/* Has a `value` for what can be a field. */
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

/* What may be said of a field, in the order of invivo_property. Each has a default, so that none is missed. */
struct invivo_said {
    double initial = 0, min = 0, max = 0, step = 0;
    const char *initial_text = nullptr, *unit = nullptr, *text = nullptr;
    const invivo_choice *choices = nullptr;
    uint64_t choice_count = 0;
    const char *const *was = nullptr;
    uint64_t was_count = 0;
    const invivo_property *fields = nullptr;
    uint64_t field_count = 0;
    const invivo_value *initial_value = nullptr;
    uint64_t reserved = 0;
};

constexpr invivo_property invivo_field(const char *name, invivo_kind kind, uint32_t flags, uint64_t offset, uint64_t size,
                                       const invivo_said &said) {
    invivo_property made{};
    made.struct_size = sizeof(made), made.name = name, made.kind = kind, made.flags = flags;
    made.offset = offset, made.size = size;
    made.initial = said.initial, made.min = said.min, made.max = said.max, made.step = said.step;
    made.initial_text = said.initial_text, made.unit = said.unit, made.text = said.text;
    made.choices = said.choices, made.choice_count = said.choice_count, made.was = said.was, made.was_count = said.was_count;
    made.fields = said.fields, made.field_count = said.field_count, made.initial_value = said.initial_value;
    return made;
}

#define INVIVO_FIELD_(structure, property_flags, field, ...)                                                          \
    invivo_field(#field, INVIVO_KIND_OF(((structure *)0)->field), property_flags, offsetof(structure, field),         \
                 sizeof(((structure *)0)->field), invivo_said{__VA_ARGS__})

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
