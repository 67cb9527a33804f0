"""The C ABI as ctypes sees it. Written by scripts/generate from the other headers; do not edit.

A `const char *` that a length follows is data without a closing NUL: such a field is a `c_void_p`, read by
`ctypes.string_at(pointer, length)`. Opaque structs are `c_void_p`. A text that the caller owns (`char *`) is a
`c_void_p`, so that it can be given back.
"""

# fmt: off
# ruff: noqa: E501, N801

from __future__ import annotations

import ctypes
from typing import Any

# ---- constants -----------------------------------------------------------------------------------------

INVIVO_VERSION_MAJOR = 0
INVIVO_VERSION_MINOR = 1
INVIVO_VERSION_PATCH = 0
INVIVO_OK = 0
INVIVO_E_ARGUMENT = -1
INVIVO_E_HANDLE = -2
INVIVO_E_CLOSED = -3
INVIVO_E_MEMORY = -4
INVIVO_E_NOT_FOUND = -5
INVIVO_E_EXISTS = -6
INVIVO_E_TYPE = -7
INVIVO_E_RANGE = -8
INVIVO_E_READ_ONLY = -9
INVIVO_E_PROPERTY = -10
INVIVO_E_METHOD = -11
INVIVO_E_ARITY = -12
INVIVO_E_COLD = -13
INVIVO_E_STALE = -14
INVIVO_E_DOMAIN = -15
INVIVO_E_WOULD_WAIT = -16
INVIVO_E_IN_CALLBACK = -17
INVIVO_E_BUSY = -18
INVIVO_E_TIMEOUT = -19
INVIVO_E_CYCLE = -20
INVIVO_E_SYNTAX = -21
INVIVO_E_SPEC = -22
INVIVO_E_ENCODING = -23
INVIVO_E_EMPTY = -24
INVIVO_E_TOO_LARGE = -25
INVIVO_E_FILE = -26
INVIVO_E_SYSTEM = -27
INVIVO_E_MODULE = -28
INVIVO_E_VERSION = -29
INVIVO_E_HOST = -30
INVIVO_E_FORKED = -31
INVIVO_E_NOT_READY = -32
INVIVO_E_CHANGED = -33
INVIVO_E_NULL = -34
INVIVO_E_UNSUPPORTED = -35
INVIVO_E_INTERNAL = -36
INVIVO_E_AMBIGUOUS = -37
INVIVO_E_ABSTRACT = -38
INVIVO_E_NOT_CONFIGURED = -39
INVIVO_E_CONVERSION = -40
INVIVO_E_STOP = -41
INVIVO_E_DORMANT = -42
INVIVO_E_CAPTIVE = -49
INVIVO_E_REFUSED = -50
INVIVO_E_ORPHANED = -51
INVIVO_STATUS_LAST = -51
INVIVO_KIND_NULL = 0
INVIVO_KIND_BOOL = 1
INVIVO_KIND_INT8 = 2
INVIVO_KIND_INT16 = 3
INVIVO_KIND_INT32 = 4
INVIVO_KIND_INT64 = 5
INVIVO_KIND_UINT8 = 6
INVIVO_KIND_UINT16 = 7
INVIVO_KIND_UINT32 = 8
INVIVO_KIND_UINT64 = 9
INVIVO_KIND_FLOAT = 10
INVIVO_KIND_DOUBLE = 11
INVIVO_KIND_STRING = 12
INVIVO_KIND_BYTES = 13
INVIVO_KIND_LIST = 14
INVIVO_KIND_MAP = 15
INVIVO_KIND_OBJECT = 16
INVIVO_KIND_TYPE = 17
INVIVO_KIND_CALLABLE = 18
INVIVO_KIND_ENUMERATION = 19
INVIVO_KIND_ANY = 255
INVIVO_KIND_COUNT = 20
INVIVO_PROPERTY_READ_ONLY = 1
INVIVO_PROPERTY_RESTART = 2
INVIVO_PROPERTY_BLOCK = 4
INVIVO_PROPERTY_NOT_TUNABLE = 8
INVIVO_PROPERTY_REQUIRED = 16
INVIVO_PROPERTY_SECRET = 32
INVIVO_CODEC_NONE = 0
INVIVO_CODEC_SIZE = 1
INVIVO_CODEC_POINT = 2
INVIVO_CODEC_DECIBEL = 3
INVIVO_CODEC_PERCENT = 4
INVIVO_CODEC_COLOR = 5
INVIVO_CODEC_DURATION = 6
INVIVO_PARAMETER_OPTIONAL = 1
INVIVO_PARAMETER_SECRET = 2
INVIVO_BUILD_SHARED = 1
INVIVO_CONFINED = 0
INVIVO_SHARED = 1
INVIVO_LOG_TRACE = 0
INVIVO_LOG_DEBUG = 1
INVIVO_LOG_INFO = 2
INVIVO_LOG_WARNING = 3
INVIVO_LOG_ERROR = 4
INVIVO_LOG_SILENT = 5
INVIVO_DOMAIN_OPENER = 0
INVIVO_DOMAIN_LOOP = 1
INVIVO_RUNTIME_PENDING_TARGETS = 1
INVIVO_RUNTIME_WITHOUT_NEEDS = 16
INVIVO_RUNTIME_FOREIGN_FILES = 32
INVIVO_RUNTIME_WITHOUT_CONTENT = 64
INVIVO_DOMAIN_ANY_THREAD = 1
INVIVO_DOMAIN_DEFAULT = 2
INVIVO_STATE_COLD = 0
INVIVO_STATE_BUILDING = 1
INVIVO_STATE_MADE = 2
INVIVO_STATE_PREPARED = 3
INVIVO_STATE_STARTING = 4
INVIVO_STATE_STARTED = 5
INVIVO_STATE_STOPPING = 6
INVIVO_STATE_STOPPED = 7
INVIVO_STATE_FAILED = 8
INVIVO_STATE_DORMANT = 9
INVIVO_SPEC_KEY_NONE = "none"
INVIVO_SCOPE_DEFAULT = 0
INVIVO_SCOPE_PROTOTYPE = 1
INVIVO_SCOPE_GRAPH = 2
INVIVO_SCOPE_SINGLETON = 3
INVIVO_SCOPE_LAZY_SINGLETON = 4
INVIVO_SCOPE_WEAK_SINGLETON = 5
INVIVO_SCOPE_CONTEXT = 6
INVIVO_SCOPE_THREAD = 7
INVIVO_SCOPE_HOST = 8
INVIVO_INJECT_VALUE = 0
INVIVO_INJECT_REFERENCE = 1
INVIVO_INJECT_TYPE = 2
INVIVO_INJECT_ALL = 3
INVIVO_INJECT_ARGUMENT = 4
INVIVO_INJECT_ARGUMENTS = 5
INVIVO_INJECT_PATH = 6
INVIVO_INJECT_LIST = 7
INVIVO_INJECT_SET = 8
INVIVO_INJECT_MAP = 9
INVIVO_INJECT_PROVIDER = 10
INVIVO_INJECT_LAZY = 11
INVIVO_INJECT_WEAK = 16
INVIVO_INJECT_RESOLVER = 12
INVIVO_INJECT_ASKER = 13
INVIVO_INJECT_CONFIG = 14
INVIVO_INJECT_TEXT = 15
INVIVO_INJECT_ENTRY = 20
INVIVO_INJECT_ENTRY_NAME = 21
INVIVO_INJECT_CONTEXT = 22
INVIVO_INJECT_OPTIONAL = 1
INVIVO_INJECT_EXACT = 2
INVIVO_INJECT_GREEDY = 4
INVIVO_INJECT_OR_DEFAULT = 8
INVIVO_INJECT_BY_POSITION = 16
INVIVO_INJECT_KEEP = 32
INVIVO_INJECT_REBUILD = 64
INVIVO_INJECT_REFUSE = 128
INVIVO_INJECT_FOLLOW = 256
INVIVO_INJECT_OWNS = 512
INVIVO_ON_CHANGE_DEFAULT = 0
INVIVO_ON_CHANGE_FOLLOW = 1
INVIVO_ON_CHANGE_KEEP = 2
INVIVO_ON_CHANGE_REBUILD = 3
INVIVO_ON_CHANGE_REFUSE = 4
INVIVO_DEFINITION_ABSTRACT = 1
INVIVO_DEFINITION_HIDDEN_CLASS = 2
INVIVO_DEFINITION_HIDDEN_INTERFACE = 4
INVIVO_DEFINITION_NULLABLE = 8
INVIVO_DEFINITION_EXCLUSIVE = 16
INVIVO_DEFINITION_WAITS = 32
INVIVO_DEFINITION_TRACKED = 64
INVIVO_DEFINITION_RESTART = 128
INVIVO_WHEN_EQUAL = 0
INVIVO_WHEN_EXACT = 1
INVIVO_WHEN_KIND = 2
INVIVO_WHEN_NAMED = 3
INVIVO_WHEN_OTHERWISE = 4
INVIVO_RESET_DEPENDENCIES = 1
INVIVO_LOOKUP_EXACT = 1
INVIVO_LOOKUP_OPTIONAL = 2
INVIVO_INTO_SHARED = 1
INVIVO_INTO_KNOWN = 2
INVIVO_COLLABORATOR_OPTIONAL = 1
INVIVO_ASSEMBLY_DESCRIBED = 1
INVIVO_ASSEMBLY_EXTENDS = 2
INVIVO_ASSEMBLY_UNKNOWN = 0
INVIVO_ASSEMBLY_INACTIVE = 1
INVIVO_ASSEMBLY_ACTIVE = 2
INVIVO_ACTIVATE_NEW = 1
INVIVO_CHUNK_SHIFT = 7
INVIVO_CHUNK_MASK = 127
INVIVO_SOURCE_WAIT = 1
INVIVO_SOURCE_KEEP_GOING = 2
INVIVO_FORMAT_YAML = 0
INVIVO_FORMAT_JSON = 1
INVIVO_CHANGED_DEFINED = 0
INVIVO_CHANGED_REMOVED = 1
INVIVO_CHANGED_REMADE = 2
INVIVO_CHANGED_REINJECTED = 3
INVIVO_CHANGED_TUNED = 4
INVIVO_CHANGED_PENDING = 5
INVIVO_CHANGED_CONFIGURED = 6
INVIVO_CHANGED_DORMANT = 7
INVIVO_CHANGED_CLEARED = 8
INVIVO_CHANGED_KEPT = 9
INVIVO_PHASE_DETECT = 0
INVIVO_PHASE_SETTLE = 1
INVIVO_PHASE_STAGE = 2
INVIVO_PHASE_PLAN = 3
INVIVO_PHASE_COMMIT = 4
INVIVO_PHASE_TOTAL = 5
INVIVO_PHASE_OUTAGE = 6
INVIVO_PHASE_COUNT = 7
INVIVO_CAUSE_FILE = 0
INVIVO_CAUSE_DOCUMENT = 1
INVIVO_CAUSE_CLOSE = 2
INVIVO_CAUSE_DEFINE = 3
INVIVO_CAUSE_REMOVE = 4
INVIVO_CAUSE_SET = 5
INVIVO_CAUSE_CONFIGURE = 6
INVIVO_CAUSE_RESET = 7
INVIVO_CAUSE_RESET_SCOPE = 8
INVIVO_CAUSE_OVERRIDE = 9
INVIVO_CAUSE_OVERRIDE_END = 10
INVIVO_CAUSE_ACTIVATE = 11
INVIVO_CAUSE_DEACTIVATE = 12
INVIVO_CAUSE_MOUNT = 13
INVIVO_CAUSE_ATTACH = 14
INVIVO_CAUSE_DETACH = 15
INVIVO_CAUSE_CLEAR = 16
INVIVO_CAUSE_PROCESS = 17
INVIVO_CAUSE_UNPROCESS = 18
INVIVO_CAUSE_RULE = 19
INVIVO_CAUSE_RULE_REMOVE = 20
INVIVO_CAUSE_ROLLBACK = 21
INVIVO_CAUSE_TYPE = 22
INVIVO_CAUSE_MANIFEST = 23
INVIVO_CAUSE_OVERTAKEN = 24
INVIVO_CAUSE_MORE = 25
INVIVO_CAUSE_TRAIT = 26
INVIVO_CAUSE_TRAIT_REMOVE = 27
INVIVO_CAUSE_ENVIRONMENT = 28
INVIVO_CAUSE_BIND = 29
INVIVO_CAUSE_UNBIND = 30
INVIVO_ORIGIN_NONE = 0
INVIVO_ORIGIN_FILE = 1
INVIVO_ORIGIN_DOCUMENT = 2
INVIVO_ORIGIN_CALL = 3
INVIVO_ORIGIN_ASSEMBLY = 4
INVIVO_ORIGIN_MANIFEST = 5
INVIVO_ORIGIN_OVERRIDE = 6
INVIVO_ORIGIN_ROLLBACK = 7
INVIVO_ORIGIN_ENVIRONMENT = 8
INVIVO_WARNING_OTHER = 0
INVIVO_WARNING_KEPT = 1
INVIVO_WARNING_ADJUSTED = 2
INVIVO_WARNING_FOREIGN = 3
INVIVO_WARNING_UNREAD = 4
INVIVO_WARNING_RENAMED = 5
INVIVO_WARNING_NO_TARGET = 6
INVIVO_WARNING_REFUSED = 7
INVIVO_WARNING_UNRESTORED = 8
INVIVO_WARNING_SETUP = 9
INVIVO_WARNING_RETYPED = 10
INVIVO_WARNING_DIVERGED = 11
INVIVO_WARNING_UNKNOWN_TRAIT = 12
INVIVO_WARNING_SKIPPED = 13
INVIVO_PROGRESS_DETECTED = 0
INVIVO_PROGRESS_PLANNED = 1
INVIVO_PROGRESS_COMMITTED = 2
INVIVO_PROGRESS_REFUSED = 3
INVIVO_PROGRESS_UNCHANGED = 4
INVIVO_PROGRESS_RETIRED = 5
INVIVO_ENTRY_CONFIG = 1
INVIVO_ENTRY_CONFIG_LATE = 2
INVIVO_ABI_VERSION = 1
INVIVO_MODULE_NOTE_NAME = "Invivo"
INVIVO_MODULE_ENTRY_NAME = "invivo_module_entry"
INVIVO_TOKEN_MAGIC = 8031722942758284873
INVIVO_APP_WAIT = 1
INVIVO_APP_WITHOUT_MODULES = 2
INVIVO_GRAPH_FACTS = 0
INVIVO_GRAPH_JSON = 1
INVIVO_GRAPH_DOT = 2
INVIVO_GRAPH_MERMAID = 3
INVIVO_GRAPH_KEYS_C = 16
INVIVO_GRAPH_KEYS_SWIFT = 17
INVIVO_GRAPH_KEYS_PYTHON = 18
INVIVO_GRAPH_SCHEMA = 24
INVIVO_GRAPH_UNREAD = 32
INVIVO_CONTEXT_FOLLOWS = 1
INVIVO_PROVIDED_LIVE = 1
INVIVO_CONTEXT_DETACHED = 1
INVIVO_CONTEXT_STRONG_PARENT = 2
INVIVO_CONTEXT_WEAK_PARENT = 4
INVIVO_END_REFUSES_CHILDREN = 1
INVIVO_VALUE_SET = 0
INVIVO_VALUE_REMOVE = 1
INVIVO_VALUE_HIDE = 2
INVIVO_FIND_ABOVE = 1
INVIVO_FIND_EXACT_TYPE = 2
INVIVO_SECTION_PRIVATE = 1
INVIVO_SETTINGS_DISCREET = 1
INVIVO_ENTRY_SETTINGS = 3
INVIVO_REVERSAL_REPEATS = 1

# (name, number, text) of every status code.
STATUS: list[tuple[str, int, str]] = [
    ("INVIVO_OK", 0, "success"),
    ("INVIVO_E_ARGUMENT", -1, "an argument is missing or not allowed"),
    ("INVIVO_E_HANDLE", -2, "the handle is stale, foreign or of another kind"),
    ("INVIVO_E_CLOSED", -3, "the runtime is closed"),
    ("INVIVO_E_MEMORY", -4, "out of memory"),
    ("INVIVO_E_NOT_FOUND", -5, "no such key, name or file"),
    ("INVIVO_E_EXISTS", -6, "the name is taken"),
    ("INVIVO_E_TYPE", -7, "the value or object has another type"),
    ("INVIVO_E_RANGE", -8, "the value is outside the range"),
    ("INVIVO_E_READ_ONLY", -9, "the property cannot be set"),
    ("INVIVO_E_PROPERTY", -10, "the type has no such property"),
    ("INVIVO_E_METHOD", -11, "the type has no such method"),
    ("INVIVO_E_ARITY", -12, "the number of arguments is wrong"),
    ("INVIVO_E_COLD", -13, "the shared object is not built yet"),
    ("INVIVO_E_STALE", -14, "the handle or change set belongs to a former generation"),
    ("INVIVO_E_DOMAIN", -15, "the object may only be touched in its domain"),
    ("INVIVO_E_WOULD_WAIT", -16, "the call would have to wait, and may not wait here"),
    ("INVIVO_E_IN_CALLBACK", -17, "the call is not allowed from inside a callback"),
    ("INVIVO_E_BUSY", -18, "something is still in use"),
    ("INVIVO_E_TIMEOUT", -19, "the deadline has passed"),
    ("INVIVO_E_CYCLE", -20, "the dependencies form a cycle"),
    ("INVIVO_E_SYNTAX", -21, "the document is not well-formed"),
    ("INVIVO_E_SPEC", -22, "the document names something unknown"),
    ("INVIVO_E_ENCODING", -23, "the text is not UTF-8"),
    ("INVIVO_E_EMPTY", -24, "the document is empty"),
    ("INVIVO_E_TOO_LARGE", -25, "a limit is exceeded"),
    ("INVIVO_E_FILE", -26, "not a readable regular file"),
    ("INVIVO_E_SYSTEM", -27, "the operating system refused"),
    ("INVIVO_E_MODULE", -28, "the module cannot be used"),
    ("INVIVO_E_VERSION", -29, "the versions do not fit"),
    ("INVIVO_E_HOST", -30, "host code failed"),
    ("INVIVO_E_FORKED", -31, "the runtime belongs to the parent process"),
    ("INVIVO_E_NOT_READY", -32, "not built, not started or not there yet"),
    ("INVIVO_E_CHANGED", -33, "something else changed it meanwhile"),
    ("INVIVO_E_NULL", -34, "null where a value is needed"),
    ("INVIVO_E_UNSUPPORTED", -35, "not supported here"),
    ("INVIVO_E_INTERNAL", -36, "a fault of the runtime itself; please report it"),
    ("INVIVO_E_AMBIGUOUS", -37, "several candidates match, and none has priority"),
    ("INVIVO_E_ABSTRACT", -38, "the definition is abstract: only its children can be resolved"),
    ("INVIVO_E_NOT_CONFIGURED", -39, "there is no configuration value at the path"),
    ("INVIVO_E_CONVERSION", -40, "the string cannot be converted to the requested kind"),
    ("INVIVO_E_STOP", -41, "the call succeeded, but an object failed to stop"),
    ("INVIVO_E_DORMANT", -42, "the definition is blocked on a missing dependency"),
    ("INVIVO_E_CAPTIVE", -49, "captive dependency: a longer-lived object would hold a shorter-lived or thread-confined one"),
    ("INVIVO_E_REFUSED", -50, "a definition refuses a change of its dependency"),
    ("INVIVO_E_ORPHANED", -51, "the parent of the context has ended"),
]

# (name, number) of every kind of value.
KINDS: list[tuple[str, int]] = [
    ("INVIVO_KIND_NULL", 0),
    ("INVIVO_KIND_BOOL", 1),
    ("INVIVO_KIND_INT8", 2),
    ("INVIVO_KIND_INT16", 3),
    ("INVIVO_KIND_INT32", 4),
    ("INVIVO_KIND_INT64", 5),
    ("INVIVO_KIND_UINT8", 6),
    ("INVIVO_KIND_UINT16", 7),
    ("INVIVO_KIND_UINT32", 8),
    ("INVIVO_KIND_UINT64", 9),
    ("INVIVO_KIND_FLOAT", 10),
    ("INVIVO_KIND_DOUBLE", 11),
    ("INVIVO_KIND_STRING", 12),
    ("INVIVO_KIND_BYTES", 13),
    ("INVIVO_KIND_LIST", 14),
    ("INVIVO_KIND_MAP", 15),
    ("INVIVO_KIND_OBJECT", 16),
    ("INVIVO_KIND_TYPE", 17),
    ("INVIVO_KIND_CALLABLE", 18),
    ("INVIVO_KIND_ENUMERATION", 19),
    ("INVIVO_KIND_ANY", 255),
]

# ---- structures ----------------------------------------------------------------------------------------

class invivo_runtime(ctypes.Structure):
    pass


class invivo_object(ctypes.Structure):
    pass


class invivo_key(ctypes.Structure):
    pass


class invivo_type(ctypes.Structure):
    pass


class invivo_callable(ctypes.Structure):
    pass


class invivo_domain(ctypes.Structure):
    pass


class invivo_job(ctypes.Structure):
    pass


class invivo_changes(ctypes.Structure):
    pass


class invivo_source(ctypes.Structure):
    pass


class invivo_target(ctypes.Structure):
    pass


class invivo_observer(ctypes.Structure):
    pass


class invivo_module(ctypes.Structure):
    pass


class invivo_app(ctypes.Structure):
    pass


class invivo_override(ctypes.Structure):
    pass


class invivo_config(ctypes.Structure):
    pass


class invivo_pool(ctypes.Structure):
    pass


class invivo_pin(ctypes.Structure):
    pass


class invivo_context(ctypes.Structure):
    pass


class invivo_value_as_string(ctypes.Structure):
    pass


class invivo_value_as_bytes(ctypes.Structure):
    pass


class invivo_value_as_list(ctypes.Structure):
    pass


class invivo_value_as_map(ctypes.Structure):
    pass


class invivo_value_as_enumeration(ctypes.Structure):
    pass


class invivo_value_as(ctypes.Union):
    pass


class invivo_value(ctypes.Structure):
    pass


class invivo_pair(ctypes.Structure):
    pass


class invivo_callable_options(ctypes.Structure):
    pass


class invivo_choice(ctypes.Structure):
    pass


class invivo_property(ctypes.Structure):
    pass


class invivo_parameter(ctypes.Structure):
    pass


class invivo_method(ctypes.Structure):
    pass


class invivo_build(ctypes.Structure):
    pass


class invivo_type_options(ctypes.Structure):
    pass


class invivo_log_entry(ctypes.Structure):
    pass


class invivo_runtime_options(ctypes.Structure):
    pass


class invivo_domain_options(ctypes.Structure):
    pass


class invivo_runtime_info(ctypes.Structure):
    pass


class invivo_live_counts(ctypes.Structure):
    pass


class invivo_injection(ctypes.Structure):
    pass


class invivo_invocation(ctypes.Structure):
    pass


class invivo_option(ctypes.Structure):
    pass


class invivo_definition(ctypes.Structure):
    pass


class invivo_processor(ctypes.Structure):
    pass


class invivo_block_options(ctypes.Structure):
    pass


class invivo_tree(ctypes.Structure):
    pass


class invivo_collaborator(ctypes.Structure):
    pass


class invivo_assembly(ctypes.Structure):
    pass


class invivo_activate_options(ctypes.Structure):
    pass


class invivo_remap(ctypes.Structure):
    pass


class invivo_pool_options(ctypes.Structure):
    pass


class invivo_scope_options(ctypes.Structure):
    pass


class invivo_cell(ctypes.Structure):
    pass


class invivo_entry(ctypes.Structure):
    pass


class invivo_graph(ctypes.Structure):
    pass


class invivo_view(ctypes.Structure):
    pass


class invivo_source_options(ctypes.Structure):
    pass


class invivo_progress(ctypes.Structure):
    pass


class invivo_observer_options(ctypes.Structure):
    pass


class invivo_config_observer_options(ctypes.Structure):
    pass


class invivo_converter_options(ctypes.Structure):
    pass


class invivo_token(ctypes.Structure):
    pass


class invivo_app_options(ctypes.Structure):
    pass


class invivo_callbacks(ctypes.Structure):
    pass


class invivo_context_provided(ctypes.Structure):
    pass


class invivo_context_kind(ctypes.Structure):
    pass


class invivo_context_key(ctypes.Structure):
    pass


class invivo_context_value(ctypes.Structure):
    pass


class invivo_place(ctypes.Structure):
    pass


class invivo_context_options(ctypes.Structure):
    pass


class invivo_context_ending(ctypes.Structure):
    pass


class invivo_context_change(ctypes.Structure):
    pass


class invivo_context_observer(ctypes.Structure):
    pass


class invivo_context_query(ctypes.Structure):
    pass


class invivo_rule(ctypes.Structure):
    pass


class invivo_section(ctypes.Structure):
    pass


class invivo_settings(ctypes.Structure):
    pass


class invivo_settings_type(ctypes.Structure):
    pass


class invivo_reversal(ctypes.Structure):
    pass


class invivo_trait(ctypes.Structure):
    pass

invivo_runtime._fields_ = [
    ("bits", ctypes.c_uint64),
]
invivo_object._fields_ = [
    ("bits", ctypes.c_uint64),
]
invivo_key._fields_ = [
    ("bits", ctypes.c_uint64),
]
invivo_type._fields_ = [
    ("bits", ctypes.c_uint64),
]
invivo_callable._fields_ = [
    ("bits", ctypes.c_uint64),
]
invivo_domain._fields_ = [
    ("bits", ctypes.c_uint64),
]
invivo_job._fields_ = [
    ("bits", ctypes.c_uint64),
]
invivo_changes._fields_ = [
    ("bits", ctypes.c_uint64),
]
invivo_source._fields_ = [
    ("bits", ctypes.c_uint64),
]
invivo_target._fields_ = [
    ("bits", ctypes.c_uint64),
]
invivo_observer._fields_ = [
    ("bits", ctypes.c_uint64),
]
invivo_module._fields_ = [
    ("bits", ctypes.c_uint64),
]
invivo_app._fields_ = [
    ("bits", ctypes.c_uint64),
]
invivo_override._fields_ = [
    ("bits", ctypes.c_uint64),
]
invivo_config._fields_ = [
    ("bits", ctypes.c_uint64),
]
invivo_pool._fields_ = [
    ("bits", ctypes.c_uint64),
]
invivo_pin._fields_ = [
    ("bits", ctypes.c_uint64),
]
invivo_context._fields_ = [
    ("bits", ctypes.c_uint64),
]
invivo_value_as_string._fields_ = [
    ("data", ctypes.c_void_p),
    ("length", ctypes.c_uint64),
]
invivo_value_as_bytes._fields_ = [
    ("data", ctypes.c_void_p),
    ("length", ctypes.c_uint64),
]
invivo_value_as_list._fields_ = [
    ("items", ctypes.POINTER(invivo_value)),
    ("count", ctypes.c_uint64),
]
invivo_value_as_map._fields_ = [
    ("pairs", ctypes.POINTER(invivo_pair)),
    ("count", ctypes.c_uint64),
]
invivo_value_as_enumeration._fields_ = [
    ("number", ctypes.c_int64),
    ("name", ctypes.c_char_p),
]
invivo_value_as._fields_ = [
    ("boolean", ctypes.c_bool),
    ("signed_integer", ctypes.c_int64),
    ("unsigned_integer", ctypes.c_uint64),
    ("single", ctypes.c_float),
    ("number", ctypes.c_double),
    ("string", invivo_value_as_string),
    ("bytes", invivo_value_as_bytes),
    ("list", invivo_value_as_list),
    ("map", invivo_value_as_map),
    ("enumeration", invivo_value_as_enumeration),
    ("object", invivo_object),
    ("type", invivo_type),
    ("callable", invivo_callable),
]
invivo_value._fields_ = [
    ("kind", ctypes.c_uint32),
    ("reserved", ctypes.c_uint32),
    ("as", invivo_value_as),
]
invivo_pair._fields_ = [
    ("name", ctypes.c_void_p),
    ("length", ctypes.c_uint64),
    ("value", invivo_value),
]
invivo_callable_options._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("name", ctypes.c_char_p),
    ("invoke", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p))),
    ("user_data", ctypes.c_void_p),
    ("destroy", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
]
invivo_choice._fields_ = [
    ("name", ctypes.c_char_p),
    ("number", ctypes.c_int64),
]
invivo_property._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("name", ctypes.c_char_p),
    ("kind", ctypes.c_uint32),
    ("flags", ctypes.c_uint32),
    ("offset", ctypes.c_uint64),
    ("size", ctypes.c_uint64),
    ("initial", ctypes.c_double),
    ("min", ctypes.c_double),
    ("max", ctypes.c_double),
    ("step", ctypes.c_double),
    ("initial_text", ctypes.c_char_p),
    ("unit", ctypes.c_char_p),
    ("text", ctypes.c_char_p),
    ("choices", ctypes.POINTER(invivo_choice)),
    ("choice_count", ctypes.c_uint64),
    ("was", ctypes.POINTER(ctypes.c_char_p)),
    ("was_count", ctypes.c_uint64),
    ("fields", ctypes.POINTER(invivo_property)),
    ("field_count", ctypes.c_uint64),
    ("get", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p))),
    ("set", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p))),
    ("user_data", ctypes.c_void_p),
    ("initial_value", ctypes.POINTER(invivo_value)),
    ("capture", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p))),
    ("restore", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("forget", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)),
    ("reserved", ctypes.c_uint64),
    ("codec", ctypes.c_uint32),
    ("reserved_end", ctypes.c_uint32),
    ("verify", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p))),
]
invivo_parameter._fields_ = [
    ("name", ctypes.c_char_p),
    ("kind", ctypes.c_uint32),
    ("flags", ctypes.c_uint32),
    ("type_name", ctypes.c_char_p),
]
invivo_method._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("name", ctypes.c_char_p),
    ("text", ctypes.c_char_p),
    ("parameters", ctypes.POINTER(invivo_parameter)),
    ("parameter_count", ctypes.c_uint64),
    ("result", ctypes.c_uint32),
    ("call", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p))),
    ("user_data", ctypes.c_void_p),
]
invivo_build._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("runtime", invivo_runtime),
    ("key", invivo_key),
    ("type", invivo_type),
    ("asker", invivo_key),
    ("given", ctypes.c_uint64),
    ("flags", ctypes.c_uint32),
    ("reserved", ctypes.c_uint32),
    ("former", invivo_object),
    ("former_instance", ctypes.c_void_p),
]
invivo_type_options._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("name", ctypes.c_char_p),
    ("text", ctypes.c_char_p),
    ("supertypes", ctypes.POINTER(ctypes.c_char_p)),
    ("supertype_count", ctypes.c_uint64),
    ("concurrency", ctypes.c_uint32),
    ("reserved", ctypes.c_uint32),
    ("domain", invivo_domain),
    ("size", ctypes.c_uint64),
    ("alignment", ctypes.c_uint64),
    ("init", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(invivo_build), ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("deinit", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)),
    ("make", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(invivo_build), ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)),
    ("block_size", ctypes.c_uint64),
    ("parameters", ctypes.POINTER(invivo_parameter)),
    ("parameter_count", ctypes.c_uint64),
    ("properties", ctypes.POINTER(invivo_property)),
    ("property_count", ctypes.c_uint64),
    ("methods", ctypes.POINTER(invivo_method)),
    ("method_count", ctypes.c_uint64),
    ("start", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("stop", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("user_data", ctypes.c_void_p),
    ("destroy", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ("will_inject", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("did_inject", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("weak_make", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)),
    ("weak_load", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)),
    ("weak_free", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)),
    ("block_initial", ctypes.c_void_p),
    ("needs", ctypes.POINTER(invivo_injection)),
    ("need_count", ctypes.c_uint64),
    ("child", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.POINTER(invivo_object), ctypes.POINTER(ctypes.c_void_p))),
    ("key_name", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(ctypes.c_void_p))),
    ("prepare", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("take_runtime", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, invivo_runtime, ctypes.POINTER(ctypes.c_void_p))),
    ("count_references", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_void_p))),
    ("lookup_name", ctypes.c_char_p),
    ("setup", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("teardown", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("refresh", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("finalize", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("keeps_children", ctypes.c_uint32),
    ("reserved_end", ctypes.c_uint32),
    ("parent", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(invivo_object), ctypes.POINTER(ctypes.c_void_p))),
]
invivo_log_entry._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("level", ctypes.c_uint32),
    ("reserved", ctypes.c_uint32),
    ("message", ctypes.c_char_p),
    ("path", ctypes.c_char_p),
    ("fields", ctypes.POINTER(invivo_pair)),
    ("field_count", ctypes.c_uint64),
]
invivo_runtime_options._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("name", ctypes.c_char_p),
    ("default_domain", ctypes.c_uint32),
    ("flags", ctypes.c_uint32),
    ("quiet_ms", ctypes.c_uint32),
    ("settle_max_ms", ctypes.c_uint32),
    ("commit_timeout_ms", ctypes.c_uint32),
    ("log_level", ctypes.c_uint32),
    ("log", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(invivo_log_entry))),
    ("log_user_data", ctypes.c_void_p),
    ("log_destroy", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ("max_document_bytes", ctypes.c_uint64),
    ("start_timeout_ms", ctypes.c_uint32),
    ("stop_timeout_ms", ctypes.c_uint32),
    ("stop_grace_ms", ctypes.c_uint32),
    ("load_timeout_ms", ctypes.c_uint32),
    ("max_document_nodes", ctypes.c_uint64),
    ("max_each_entries", ctypes.c_uint64),
    ("pin_max_age_ms", ctypes.c_uint32),
    ("history", ctypes.c_uint32),
    ("rule_timeout_ms", ctypes.c_uint32),
    ("revision", ctypes.c_uint32),
    ("environment_prefix", ctypes.c_char_p),
    ("document_roots", ctypes.POINTER(ctypes.c_char_p)),
    ("document_root_count", ctypes.c_uint64),
    ("ramp_tick_ms", ctypes.c_uint32),
    ("end_timeout_ms", ctypes.c_uint32),
]
invivo_domain_options._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("name", ctypes.c_char_p),
    ("flags", ctypes.c_uint32),
    ("reserved", ctypes.c_uint32),
    ("post", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, invivo_job, ctypes.POINTER(ctypes.c_void_p))),
    ("user_data", ctypes.c_void_p),
    ("destroy", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ("is_current", ctypes.CFUNCTYPE(ctypes.c_uint8, ctypes.c_void_p)),
    ("begin", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ("end", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
]
invivo_runtime_info._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("generation", ctypes.c_uint64),
    ("reloads", ctypes.c_uint64),
    ("failures", ctypes.c_uint64),
    ("definitions", ctypes.c_uint64),
    ("objects", ctypes.c_uint64),
    ("leases", ctypes.c_uint64),
    ("targets", ctypes.c_uint64),
    ("sources", ctypes.c_uint64),
    ("retiring", ctypes.c_uint64),
    ("waiting_jobs", ctypes.c_uint64),
    ("waiting_since_ns", ctypes.c_uint64),
    ("overflows", ctypes.c_uint64),
    ("rescans", ctypes.c_uint64),
    ("unannounced", ctypes.c_uint64),
]
invivo_live_counts._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("runtimes", ctypes.c_uint64),
    ("objects", ctypes.c_uint64),
    ("callables", ctypes.c_uint64),
    ("errors", ctypes.c_uint64),
    ("graphs", ctypes.c_uint64),
    ("blocks", ctypes.c_uint64),
    ("threads", ctypes.c_uint64),
    ("descriptors", ctypes.c_uint64),
    ("contexts", ctypes.c_uint64),
]
invivo_injection._fields_ = [
    ("name", ctypes.c_char_p),
    ("how", ctypes.c_uint32),
    ("flags", ctypes.c_uint32),
    ("value", invivo_value),
    ("reference", ctypes.c_char_p),
    ("items", ctypes.POINTER(invivo_injection)),
    ("item_count", ctypes.c_uint64),
    ("index", ctypes.c_uint64),
    ("definition", ctypes.POINTER(invivo_definition)),
    ("added", ctypes.c_char_p),
    ("removed", ctypes.c_char_p),
]
invivo_invocation._fields_ = [
    ("method", ctypes.c_char_p),
    ("arguments", ctypes.POINTER(invivo_injection)),
    ("argument_count", ctypes.c_uint64),
]
invivo_option._fields_ = [
    ("when", ctypes.c_uint32),
    ("reserved", ctypes.c_uint32),
    ("value", invivo_value),
    ("name", ctypes.c_char_p),
    ("use", invivo_injection),
]
invivo_definition._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("key", ctypes.c_char_p),
    ("scope", ctypes.c_uint32),
    ("flags", ctypes.c_uint32),
    ("type", invivo_type),
    ("factory", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(invivo_build), ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("user_data", ctypes.c_void_p),
    ("destroy", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ("initializer", ctypes.POINTER(invivo_injection)),
    ("initializer_count", ctypes.c_uint64),
    ("properties", ctypes.POINTER(invivo_injection)),
    ("property_count", ctypes.c_uint64),
    ("alias", ctypes.c_char_p),
    ("file", ctypes.c_char_p),
    ("line", ctypes.c_uint32),
    ("column", ctypes.c_uint32),
    ("parent", ctypes.c_char_p),
    ("parameters", ctypes.POINTER(invivo_parameter)),
    ("parameter_count", ctypes.c_uint64),
    ("methods", ctypes.POINTER(invivo_invocation)),
    ("method_count", ctypes.c_uint64),
    ("before", ctypes.POINTER(invivo_invocation)),
    ("after", ctypes.POINTER(invivo_invocation)),
    ("after_all", ctypes.POINTER(invivo_invocation)),
    ("before_count", ctypes.c_uint64),
    ("after_count", ctypes.c_uint64),
    ("after_all_count", ctypes.c_uint64),
    ("maker_method", ctypes.c_char_p),
    ("maker", ctypes.POINTER(invivo_injection)),
    ("maker_count", ctypes.c_uint64),
    ("inject", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(invivo_build), ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("rank", ctypes.c_int32),
    ("reserved", ctypes.c_uint32),
    ("block_initial", ctypes.c_void_p),
    ("constant", invivo_object),
    ("type_name", ctypes.c_char_p),
    ("chooser", ctypes.POINTER(invivo_injection)),
    ("options", ctypes.POINTER(invivo_option)),
    ("option_count", ctypes.c_uint64),
    ("start_timeout_ms", ctypes.c_uint32),
    ("stop_timeout_ms", ctypes.c_uint32),
    ("each", ctypes.c_char_p),
    ("scope_name", ctypes.c_char_p),
    ("generic", ctypes.c_char_p),
    ("defaults", ctypes.POINTER(invivo_value)),
    ("owner", ctypes.c_char_p),
    ("on_change", ctypes.c_uint32),
    ("reserved2", ctypes.c_uint32),
    ("on_change_reason", ctypes.c_char_p),
    ("spec_key", ctypes.c_char_p),
]
invivo_processor._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("name", ctypes.c_char_p),
    ("key", ctypes.c_char_p),
    ("type", ctypes.c_char_p),
    ("priority", ctypes.c_int32),
    ("reserved", ctypes.c_uint32),
    ("process", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(invivo_definition), invivo_changes, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("decorate", ctypes.CFUNCTYPE(ctypes.c_int32, invivo_object, ctypes.POINTER(invivo_build), ctypes.POINTER(invivo_object), ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("component", ctypes.c_char_p),
    ("method", ctypes.c_char_p),
    ("user_data", ctypes.c_void_p),
    ("destroy", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
]
invivo_block_options._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("type_name", ctypes.c_char_p),
    ("size", ctypes.c_uint64),
    ("properties", ctypes.POINTER(invivo_property)),
    ("property_count", ctypes.c_uint64),
    ("initial", ctypes.c_void_p),
]
invivo_tree._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("key", ctypes.c_char_p),
    ("flags", ctypes.c_uint32),
    ("reserved", ctypes.c_uint32),
    ("child", ctypes.CFUNCTYPE(ctypes.c_int32, invivo_object, ctypes.c_uint64, ctypes.POINTER(invivo_object), ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("key_name", ctypes.CFUNCTYPE(ctypes.c_int32, invivo_object, ctypes.POINTER(ctypes.c_char_p), ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("is_foreign", ctypes.CFUNCTYPE(ctypes.c_uint8, invivo_object, ctypes.c_void_p)),
    ("user_data", ctypes.c_void_p),
]
invivo_collaborator._fields_ = [
    ("prefix", ctypes.c_char_p),
    ("assembly", ctypes.c_char_p),
    ("table", ctypes.POINTER(invivo_assembly)),
    ("flags", ctypes.c_uint32),
    ("reserved", ctypes.c_uint32),
]
invivo_assembly._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("name", ctypes.c_char_p),
    ("definitions", ctypes.POINTER(invivo_definition)),
    ("definition_count", ctypes.c_uint64),
    ("collaborators", ctypes.POINTER(invivo_collaborator)),
    ("collaborator_count", ctypes.c_uint64),
    ("base", ctypes.POINTER(invivo_assembly)),
    ("supertypes", ctypes.POINTER(ctypes.c_char_p)),
    ("supertype_count", ctypes.c_uint64),
    ("flags", ctypes.c_uint32),
    ("line", ctypes.c_uint32),
    ("column", ctypes.c_uint32),
    ("reserved", ctypes.c_uint32),
    ("file", ctypes.c_char_p),
    ("secrets", ctypes.POINTER(ctypes.c_char_p)),
    ("secret_count", ctypes.c_uint64),
]
invivo_activate_options._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("flags", ctypes.c_uint32),
    ("reserved", ctypes.c_uint32),
]
invivo_remap._fields_ = [
    ("from", ctypes.c_char_p),
    ("to", ctypes.c_char_p),
]
invivo_pool_options._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("name", ctypes.c_char_p),
    ("make", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(invivo_value), ctypes.POINTER(invivo_object), ctypes.POINTER(ctypes.c_void_p))),
    ("user_data", ctypes.c_void_p),
    ("destroy", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
]
invivo_scope_options._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("name", ctypes.c_char_p),
    ("find", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_void_p))),
    ("keep", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, invivo_key, invivo_object)),
    ("drop", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, invivo_key, invivo_object)),
    ("user_data", ctypes.c_void_p),
    ("destroy", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
]
invivo_cell._fields_ = [
    ("instance", ctypes.c_void_p),
]
invivo_entry._fields_ = [
    ("cell", ctypes.POINTER(invivo_cell)),
    ("block", ctypes.c_void_p),
    ("layers", ctypes.c_void_p),
    ("type", ctypes.c_uint64),
]
invivo_graph._fields_ = [
    ("generation", ctypes.c_uint64),
    ("owner", ctypes.c_uint32),
    ("count", ctypes.c_uint32),
    ("chunks", ctypes.POINTER(ctypes.POINTER(invivo_entry))),
]
invivo_view._fields_ = [
    ("graph", ctypes.POINTER(invivo_graph)),
    ("reader", ctypes.c_void_p),
]
invivo_source_options._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("path", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("flags", ctypes.c_uint32),
    ("reserved", ctypes.c_uint32),
    ("text", ctypes.c_void_p),
    ("length", ctypes.c_uint64),
]
invivo_progress._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("phase", ctypes.c_uint32),
    ("reserved", ctypes.c_uint32),
    ("reload", ctypes.c_uint64),
    ("generation", ctypes.c_uint64),
    ("cause", ctypes.c_char_p),
    ("error", ctypes.c_void_p),
]
invivo_observer_options._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("reloaded", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)),
    ("user_data", ctypes.c_void_p),
    ("destroy", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ("domain", invivo_domain),
    ("publishing", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32)),
    ("key", ctypes.c_char_p),
    ("type", ctypes.c_char_p),
    ("object", invivo_object),
    ("ready", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p)),
    ("progress", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(invivo_progress))),
]
invivo_config_observer_options._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("changed", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(invivo_value), ctypes.c_uint64)),
    ("user_data", ctypes.c_void_p),
    ("destroy", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ("domain", invivo_domain),
]
invivo_converter_options._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("name", ctypes.c_char_p),
    ("convert", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p))),
    ("user_data", ctypes.c_void_p),
    ("destroy", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ("read", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(invivo_value), ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p))),
]
invivo_token._fields_ = [
    ("magic", ctypes.c_uint64),
    ("table", ctypes.c_void_p),
    ("runtime", invivo_runtime),
]
invivo_app_options._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("manifest", ctypes.c_char_p),
    ("runtime", ctypes.POINTER(invivo_runtime_options)),
    ("flags", ctypes.c_uint32),
    ("reserved", ctypes.c_uint32),
    ("load_module", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, invivo_runtime, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p))),
    ("user_data", ctypes.c_void_p),
    ("assemblies", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, invivo_runtime, invivo_changes, ctypes.POINTER(ctypes.c_void_p))),
]
invivo_callbacks._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("make", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(invivo_build), ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)),
    ("start", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("stop", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("get", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p))),
    ("set", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p))),
    ("call", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p))),
    ("factory", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(invivo_build), ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("invoke", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p))),
    ("post", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, invivo_job, ctypes.POINTER(ctypes.c_void_p))),
    ("reloaded", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)),
    ("log", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(invivo_log_entry))),
    ("destroy", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ("capture", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p))),
    ("restore", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("forget", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)),
    ("will_inject", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("did_inject", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("weak_make", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)),
    ("weak_load", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)),
    ("weak_free", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)),
    ("inject", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(invivo_build), ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("child", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.POINTER(invivo_object), ctypes.POINTER(ctypes.c_void_p))),
    ("key_name", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(ctypes.c_void_p))),
    ("process", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(invivo_definition), invivo_changes, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("decorate", ctypes.CFUNCTYPE(ctypes.c_int32, invivo_object, ctypes.POINTER(invivo_build), ctypes.POINTER(invivo_object), ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("resolved", ctypes.CFUNCTYPE(None, ctypes.c_void_p, invivo_object, ctypes.c_void_p)),
    ("prepare", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("changed", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(invivo_value), ctypes.c_uint64)),
    ("convert", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p))),
    ("pool_make", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(invivo_value), ctypes.POINTER(invivo_object), ctypes.POINTER(ctypes.c_void_p))),
    ("scope_find", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_void_p))),
    ("scope_keep", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, invivo_key, invivo_object)),
    ("scope_drop", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, invivo_key, invivo_object)),
    ("take_runtime", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, invivo_runtime, ctypes.POINTER(ctypes.c_void_p))),
    ("publishing", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32)),
    ("count_references", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_void_p))),
    ("cell", ctypes.CFUNCTYPE(ctypes.POINTER(ctypes.c_int32))),
    ("load_module", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, invivo_runtime, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p))),
    ("assemblies", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, invivo_runtime, invivo_changes, ctypes.POINTER(ctypes.c_void_p))),
    ("tree_child", ctypes.CFUNCTYPE(ctypes.c_int32, invivo_object, ctypes.c_uint64, ctypes.POINTER(invivo_object), ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("tree_key_name", ctypes.CFUNCTYPE(ctypes.c_int32, invivo_object, ctypes.POINTER(ctypes.c_char_p), ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("tree_is_foreign", ctypes.CFUNCTYPE(ctypes.c_uint8, invivo_object, ctypes.c_void_p)),
    ("read", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(invivo_value), ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p))),
    ("check", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t), ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("setup", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("teardown", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("refresh", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("finalize", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("undo", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("begin", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ("end", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ("ready", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p)),
    ("progress", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(invivo_progress))),
    ("trait_check", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t), ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("layers", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("apply", ctypes.CFUNCTYPE(ctypes.c_int32, invivo_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.POINTER(invivo_reversal), ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("revert", ctypes.CFUNCTYPE(ctypes.c_int32, invivo_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("create", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(invivo_section), ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("bind", ctypes.CFUNCTYPE(ctypes.c_int32, invivo_changes, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("verify", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p))),
    ("context_changed", ctypes.CFUNCTYPE(None, ctypes.c_void_p, invivo_context, invivo_key, ctypes.POINTER(invivo_value))),
    ("parent", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(invivo_object), ctypes.POINTER(ctypes.c_void_p))),
]
invivo_context_provided._fields_ = [
    ("key", ctypes.c_char_p),
    ("flags", ctypes.c_uint32),
    ("reserved", ctypes.c_uint32),
]
invivo_context_kind._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("name", ctypes.c_char_p),
    ("policy", ctypes.c_uint32),
    ("reserved", ctypes.c_uint32),
    ("provides", ctypes.POINTER(invivo_context_provided)),
    ("provided_count", ctypes.c_uint64),
]
invivo_context_key._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("name", ctypes.c_char_p),
    ("kind", ctypes.c_uint32),
    ("reserved", ctypes.c_uint32),
    ("type_name", ctypes.c_char_p),
    ("initial", ctypes.POINTER(invivo_value)),
]
invivo_context_value._fields_ = [
    ("key", invivo_key),
    ("value", invivo_value),
]
invivo_place._fields_ = [
    ("file", ctypes.c_char_p),
    ("line", ctypes.c_uint32),
    ("reserved", ctypes.c_uint32),
]
invivo_context_options._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("kind", ctypes.c_char_p),
    ("parent", invivo_context),
    ("flags", ctypes.c_uint32),
    ("reserved", ctypes.c_uint32),
    ("values", ctypes.POINTER(invivo_context_value)),
    ("value_count", ctypes.c_uint64),
    ("object", invivo_object),
    ("place", invivo_place),
]
invivo_context_ending._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("timeout_ms", ctypes.c_uint32),
    ("flags", ctypes.c_uint32),
    ("failure", ctypes.c_int32),
    ("reserved", ctypes.c_uint32),
    ("failure_message", ctypes.c_char_p),
]
invivo_context_change._fields_ = [
    ("key", invivo_key),
    ("what", ctypes.c_uint32),
    ("reserved", ctypes.c_uint32),
    ("value", invivo_value),
]
invivo_context_observer._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("changed", ctypes.CFUNCTYPE(None, ctypes.c_void_p, invivo_context, invivo_key, ctypes.POINTER(invivo_value))),
    ("user_data", ctypes.c_void_p),
    ("destroy", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ("domain", invivo_domain),
]
invivo_context_query._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("kind", ctypes.c_char_p),
    ("type", ctypes.c_char_p),
    ("flags", ctypes.c_uint32),
    ("reserved", ctypes.c_uint32),
]
invivo_rule._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("name", ctypes.c_char_p),
    ("inputs", ctypes.POINTER(ctypes.c_char_p)),
    ("input_count", ctypes.c_uint64),
    ("check", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t), ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("user_data", ctypes.c_void_p),
    ("destroy", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
]
invivo_section._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("value", ctypes.POINTER(invivo_value)),
    ("variables", ctypes.POINTER(invivo_value)),
    ("flags", ctypes.c_uint32),
    ("reserved", ctypes.c_uint32),
]
invivo_settings._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("name", ctypes.c_char_p),
    ("path", ctypes.c_char_p),
    ("fields", ctypes.POINTER(invivo_property)),
    ("field_count", ctypes.c_uint64),
    ("size", ctypes.c_uint64),
    ("check", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t), ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("create", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(invivo_section), ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)),
    ("user_data", ctypes.c_void_p),
    ("destroy", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ("flags", ctypes.c_uint32),
    ("reserved", ctypes.c_uint32),
    ("secrets", ctypes.POINTER(ctypes.c_char_p)),
    ("secret_count", ctypes.c_uint64),
    ("schema", ctypes.c_char_p),
    ("type", ctypes.c_char_p),
]
invivo_settings_type._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("name", ctypes.c_char_p),
    ("bind", ctypes.CFUNCTYPE(ctypes.c_int32, invivo_changes, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("user_data", ctypes.c_void_p),
    ("destroy", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
]
invivo_reversal._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("revert", ctypes.CFUNCTYPE(ctypes.c_int32, invivo_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("data", ctypes.c_void_p),
    ("destroy", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ("flags", ctypes.c_uint32),
    ("reserved", ctypes.c_uint32),
]
invivo_trait._fields_ = [
    ("struct_size", ctypes.c_size_t),
    ("name", ctypes.c_char_p),
    ("text", ctypes.c_char_p),
    ("targets", ctypes.POINTER(ctypes.c_char_p)),
    ("target_count", ctypes.c_uint64),
    ("fields", ctypes.POINTER(invivo_property)),
    ("field_count", ctypes.c_uint64),
    ("size", ctypes.c_uint64),
    ("check", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t), ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("layers", ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("apply", ctypes.CFUNCTYPE(ctypes.c_int32, invivo_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.POINTER(invivo_reversal), ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))),
    ("user_data", ctypes.c_void_p),
    ("destroy", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
]

# Every structure, for the test that compares them with what a C compiler says.
STRUCTURES: list[type[ctypes.Structure | ctypes.Union]] = [
    invivo_runtime,
    invivo_object,
    invivo_key,
    invivo_type,
    invivo_callable,
    invivo_domain,
    invivo_job,
    invivo_changes,
    invivo_source,
    invivo_target,
    invivo_observer,
    invivo_module,
    invivo_app,
    invivo_override,
    invivo_config,
    invivo_pool,
    invivo_pin,
    invivo_context,
    invivo_value_as_string,
    invivo_value_as_bytes,
    invivo_value_as_list,
    invivo_value_as_map,
    invivo_value_as_enumeration,
    invivo_value_as,
    invivo_value,
    invivo_pair,
    invivo_callable_options,
    invivo_choice,
    invivo_property,
    invivo_parameter,
    invivo_method,
    invivo_build,
    invivo_type_options,
    invivo_log_entry,
    invivo_runtime_options,
    invivo_domain_options,
    invivo_runtime_info,
    invivo_live_counts,
    invivo_injection,
    invivo_invocation,
    invivo_option,
    invivo_definition,
    invivo_processor,
    invivo_block_options,
    invivo_tree,
    invivo_collaborator,
    invivo_assembly,
    invivo_activate_options,
    invivo_remap,
    invivo_pool_options,
    invivo_scope_options,
    invivo_cell,
    invivo_entry,
    invivo_graph,
    invivo_view,
    invivo_source_options,
    invivo_progress,
    invivo_observer_options,
    invivo_config_observer_options,
    invivo_converter_options,
    invivo_token,
    invivo_app_options,
    invivo_callbacks,
    invivo_context_provided,
    invivo_context_kind,
    invivo_context_key,
    invivo_context_value,
    invivo_place,
    invivo_context_options,
    invivo_context_ending,
    invivo_context_change,
    invivo_context_observer,
    invivo_context_query,
    invivo_rule,
    invivo_section,
    invivo_settings,
    invivo_settings_type,
    invivo_reversal,
    invivo_trait,
]

# ---- functions -----------------------------------------------------------------------------------------

# name: (restype, argtypes, NOWAIT). Only a NOWAIT function may be called while the GIL is held (PyDLL).
FUNCTIONS: dict[str, tuple[Any, list[Any], bool]] = {
    "invivo_status_name": (ctypes.c_char_p, [ctypes.c_int32], True),
    "invivo_status_text": (ctypes.c_char_p, [ctypes.c_int32], True),
    "invivo_version": (ctypes.c_uint32, [], True),
    "invivo_version_text": (ctypes.c_char_p, [], True),
    "invivo_error_make": (ctypes.c_void_p, [ctypes.c_int32, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p], True),
    "invivo_error_code": (ctypes.c_int32, [ctypes.c_void_p], True),
    "invivo_error_message": (ctypes.c_char_p, [ctypes.c_void_p], True),
    "invivo_error_path": (ctypes.c_char_p, [ctypes.c_void_p], True),
    "invivo_error_file": (ctypes.c_char_p, [ctypes.c_void_p], True),
    "invivo_error_line": (ctypes.c_uint32, [ctypes.c_void_p], True),
    "invivo_error_column": (ctypes.c_uint32, [ctypes.c_void_p], True),
    "invivo_error_cause": (ctypes.c_void_p, [ctypes.c_void_p], True),
    "invivo_error_count": (ctypes.c_size_t, [ctypes.c_void_p], True),
    "invivo_error_at": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t], True),
    "invivo_error_text": (ctypes.c_char_p, [ctypes.c_void_p], True),
    "invivo_error_release": (None, [ctypes.c_void_p], True),
    "invivo_error_report": (ctypes.c_int, [ctypes.c_void_p], False),
    "invivo_value_copy": (ctypes.c_int32, [ctypes.POINTER(invivo_value), ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_value_clear": (None, [ctypes.POINTER(invivo_value)], False),
    "invivo_value_convert": (ctypes.c_int32, [ctypes.POINTER(invivo_value), ctypes.POINTER(invivo_value), ctypes.c_uint32, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_kind_name": (ctypes.c_char_p, [ctypes.c_uint32], True),
    "invivo_callable_make": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_callable_options), ctypes.POINTER(invivo_callable), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_callable_call": (ctypes.c_int32, [invivo_callable, ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_callable_retain": (ctypes.c_int32, [invivo_callable], False),
    "invivo_callable_release": (ctypes.c_int32, [invivo_callable], False),
    "invivo_callable_user_data": (ctypes.c_void_p, [invivo_callable, ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p))], False),
    "invivo_type_register": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_type_options), ctypes.POINTER(invivo_type), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_type_find": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.POINTER(invivo_type), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_type_name": (ctypes.c_char_p, [invivo_type], False),
    "invivo_type_property_count": (ctypes.c_uint64, [invivo_type], False),
    "invivo_type_property_at": (ctypes.c_int32, [invivo_type, ctypes.c_uint64, ctypes.POINTER(invivo_property)], False),
    "invivo_type_method_count": (ctypes.c_uint64, [invivo_type], False),
    "invivo_type_method_at": (ctypes.c_int32, [invivo_type, ctypes.c_uint64, ctypes.POINTER(invivo_method)], False),
    "invivo_runtime_options_init": (None, [ctypes.POINTER(invivo_runtime_options)], True),
    "invivo_runtime_open": (ctypes.c_int32, [ctypes.POINTER(invivo_runtime), ctypes.POINTER(invivo_runtime_options), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_runtime_close": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_runtime_close_deferred": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_runtime_poll": (ctypes.c_int32, [invivo_runtime, ctypes.c_uint32, ctypes.POINTER(ctypes.c_uint32), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_runtime_descriptor": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_thread_prepare": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_domain_register": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_domain_options), ctypes.POINTER(invivo_domain), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_job_run": (ctypes.c_int32, [invivo_job], False),
    "invivo_job_drop": (ctypes.c_int32, [invivo_job], False),
    "invivo_runtime_inspect": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_runtime_info), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_runtime_last_error": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_live": (None, [ctypes.POINTER(invivo_live_counts)], False),
    "invivo_object_retain": (ctypes.c_int32, [invivo_object], True),
    "invivo_object_release": (ctypes.c_int32, [invivo_object], False),
    "invivo_object_get": (ctypes.c_int32, [invivo_object, ctypes.c_char_p, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_object_set": (ctypes.c_int32, [invivo_object, ctypes.c_char_p, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_object_call": (ctypes.c_int32, [invivo_object, ctypes.c_char_p, ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_object_instance": (ctypes.c_int32, [invivo_object, invivo_type, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_object_type": (ctypes.c_int32, [invivo_object, ctypes.POINTER(invivo_type), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_object_key": (ctypes.c_int32, [invivo_object, ctypes.POINTER(invivo_key), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_object_runtime": (ctypes.c_int32, [invivo_object, ctypes.POINTER(invivo_runtime), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_object_make": (ctypes.c_int32, [invivo_runtime, invivo_type, ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.POINTER(invivo_object), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_object_wrap": (ctypes.c_int32, [invivo_runtime, invivo_type, ctypes.c_void_p, ctypes.POINTER(invivo_object), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_target_attach": (ctypes.c_int32, [invivo_object, ctypes.c_char_p, ctypes.POINTER(invivo_target), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_target_detach": (ctypes.c_int32, [invivo_target, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_target_declare": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, invivo_type, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_key_intern": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.POINTER(invivo_key), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_key_find": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.POINTER(invivo_key), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_key_name": (ctypes.c_char_p, [invivo_key], False),
    "invivo_key_version": (ctypes.POINTER(ctypes.c_uint64), [invivo_key], False),
    "invivo_changes_open": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_changes), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_changes_define": (ctypes.c_int32, [invivo_changes, ctypes.POINTER(invivo_definition), ctypes.POINTER(invivo_key), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_changes_remove": (ctypes.c_int32, [invivo_changes, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_changes_document": (ctypes.c_int32, [invivo_changes, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_changes_set": (ctypes.c_int32, [invivo_changes, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_changes_commit": (ctypes.c_int32, [invivo_changes, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_changes_submit": (ctypes.c_int32, [invivo_changes, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_changes_discard": (None, [invivo_changes], False),
    "invivo_define": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_definition), ctypes.POINTER(invivo_key), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_define_block": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.POINTER(invivo_block_options), ctypes.POINTER(invivo_key), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_resolve": (ctypes.c_int32, [invivo_runtime, invivo_key, ctypes.POINTER(invivo_object), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_resolve_with": (ctypes.c_int32, [invivo_runtime, invivo_key, ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.POINTER(invivo_object), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_resolve_name": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.POINTER(invivo_object), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_peek": (ctypes.c_int32, [invivo_runtime, invivo_key, ctypes.POINTER(invivo_object)], True),
    "invivo_view_begin": (invivo_view, [invivo_runtime], True),
    "invivo_view_end": (None, [invivo_view], True),
    "invivo_view_key": (invivo_key, [invivo_view, ctypes.c_char_p, ctypes.c_size_t], True),
    "invivo_view_get_confined": (ctypes.c_void_p, [invivo_view, invivo_key], True),
    "invivo_source_open": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_source_options), ctypes.POINTER(invivo_source), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_watch": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_source_update": (ctypes.c_int32, [invivo_source, ctypes.c_char_p, ctypes.c_uint64, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_source_refresh": (ctypes.c_int32, [invivo_source, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_source_close": (ctypes.c_int32, [invivo_source, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_report_generation": (ctypes.c_uint64, [ctypes.c_void_p], True),
    "invivo_report_status": (ctypes.c_int32, [ctypes.c_void_p], True),
    "invivo_report_cause": (ctypes.c_char_p, [ctypes.c_void_p], True),
    "invivo_report_error": (ctypes.c_void_p, [ctypes.c_void_p], True),
    "invivo_report_count": (ctypes.c_size_t, [ctypes.c_void_p], True),
    "invivo_report_key": (ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_size_t], True),
    "invivo_report_change": (ctypes.c_uint32, [ctypes.c_void_p, ctypes.c_size_t], True),
    "invivo_report_property": (ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_size_t], True),
    "invivo_report_nanoseconds": (ctypes.c_uint64, [ctypes.c_void_p, ctypes.c_uint32], True),
    "invivo_report_text": (ctypes.c_char_p, [ctypes.c_void_p], True),
    "invivo_observe": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_observer_options), ctypes.POINTER(invivo_observer), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_observer_close": (ctypes.c_int32, [invivo_observer, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_table_get": (ctypes.c_void_p, [], True),
    "invivo_module_load": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.POINTER(invivo_module), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_stubs_use": (ctypes.c_int32, [ctypes.c_void_p], True),
    "invivo_share": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(ctypes.POINTER(invivo_token)), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_attach": (ctypes.c_int32, [ctypes.POINTER(invivo_token), ctypes.POINTER(invivo_runtime), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_app_open": (ctypes.c_int32, [ctypes.POINTER(invivo_app), ctypes.POINTER(invivo_app_options), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_app_runtime": (ctypes.c_int32, [invivo_app, ctypes.POINTER(invivo_runtime), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_app_close": (ctypes.c_int32, [invivo_app, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_app_needs_python": (ctypes.c_int32, [ctypes.c_char_p, ctypes.POINTER(ctypes.c_bool), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_error_make_at": (ctypes.c_void_p, [ctypes.c_int32, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p], True),
    "invivo_error_join": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_void_p], True),
    "invivo_type_parameter_count": (ctypes.c_uint64, [invivo_type], False),
    "invivo_type_parameter_at": (ctypes.c_int32, [invivo_type, ctypes.c_uint64, ctypes.POINTER(invivo_parameter)], False),
    "invivo_callbacks_guard": (ctypes.c_int32, [ctypes.POINTER(invivo_callbacks), ctypes.POINTER(invivo_callbacks), ctypes.POINTER(ctypes.c_void_p)], True),
    "invivo_callbacks_end": (ctypes.c_int32, [ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_resolve_optional": (ctypes.c_int32, [invivo_runtime, invivo_key, ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.POINTER(invivo_object), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_resolve_type": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint32, ctypes.POINTER(invivo_object), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_resolve_all": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.c_uint32, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_inject": (ctypes.c_int32, [invivo_object, invivo_key, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_runtime_note_error": (ctypes.c_int32, [invivo_runtime, ctypes.c_void_p], False),
    "invivo_override_begin": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_definition), ctypes.POINTER(invivo_override), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_override_end": (ctypes.c_int32, [invivo_override, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_target_detach_later": (ctypes.c_int32, [invivo_target, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_error_rule": (ctypes.c_char_p, [ctypes.c_void_p], True),
    "invivo_error_needed_by": (ctypes.c_char_p, [ctypes.c_void_p], True),
    "invivo_changes_check": (ctypes.c_int32, [invivo_changes, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_assembly_describe": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_assembly), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_assembly_forget": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_assembly_state": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint32), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_activate": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(ctypes.POINTER(invivo_assembly)), ctypes.c_size_t, ctypes.POINTER(invivo_activate_options), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_deactivate": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(ctypes.c_char_p), ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_mount": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_assembly), ctypes.c_char_p, ctypes.POINTER(invivo_remap), ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_changes_activate": (ctypes.c_int32, [invivo_changes, ctypes.POINTER(invivo_assembly), ctypes.POINTER(invivo_activate_options), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_changes_deactivate": (ctypes.c_int32, [invivo_changes, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_changes_mount": (ctypes.c_int32, [invivo_changes, ctypes.POINTER(invivo_assembly), ctypes.c_char_p, ctypes.POINTER(invivo_remap), ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_graph_describe": (ctypes.c_int32, [invivo_runtime, ctypes.c_uint32, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_app_check": (ctypes.c_int32, [ctypes.POINTER(invivo_app_options), ctypes.c_uint32, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_changes_process": (ctypes.c_int32, [invivo_changes, ctypes.POINTER(invivo_processor), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_changes_unprocess": (ctypes.c_int32, [invivo_changes, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_inject_with": (ctypes.c_int32, [invivo_object, invivo_key, ctypes.c_uint32, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_inject_tree": (ctypes.c_int32, [invivo_object, ctypes.POINTER(invivo_tree), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_resolve_async": (ctypes.c_int32, [invivo_runtime, invivo_key, ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.CFUNCTYPE(None, ctypes.c_void_p, invivo_object, ctypes.c_void_p), ctypes.c_void_p, invivo_domain, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_config_id": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.c_uint32, ctypes.POINTER(invivo_config), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_config_path": (ctypes.c_char_p, [invivo_runtime, invivo_config], False),
    "invivo_config_read": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_config_observe": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.POINTER(invivo_config_observer_options), ctypes.POINTER(invivo_observer), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_changes_configure": (ctypes.c_int32, [invivo_changes, ctypes.c_char_p, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_converter_register": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_converter_options), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_converter_unregister": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_convert": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_type_extend": (ctypes.c_int32, [invivo_runtime, invivo_type, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_runtime_states": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_changes_reset": (ctypes.c_int32, [invivo_changes, ctypes.c_char_p, ctypes.c_uint32, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_changes_reset_scope": (ctypes.c_int32, [invivo_changes, ctypes.c_uint32, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_start": (ctypes.c_int32, [invivo_runtime, invivo_key, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_stop": (ctypes.c_int32, [invivo_runtime, invivo_key, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_report_stop_error": (ctypes.c_void_p, [ctypes.c_void_p], True),
    "invivo_pool_open": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_pool_options), ctypes.POINTER(invivo_pool), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_pool_find": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.POINTER(invivo_pool), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_pool_close": (ctypes.c_int32, [invivo_pool, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_pool_get": (ctypes.c_int32, [invivo_pool, ctypes.POINTER(invivo_value), ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(invivo_value), ctypes.POINTER(invivo_object), ctypes.POINTER(ctypes.c_void_p)), ctypes.c_void_p, ctypes.POINTER(invivo_object), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_pool_peek": (ctypes.c_int32, [invivo_pool, ctypes.POINTER(invivo_value), ctypes.POINTER(invivo_object)], False),
    "invivo_pool_peek_instance": (ctypes.c_int32, [invivo_pool, ctypes.POINTER(invivo_value), invivo_type, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_pool_put": (ctypes.c_int32, [invivo_pool, ctypes.POINTER(invivo_value), invivo_object, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_pool_remove": (ctypes.c_int32, [invivo_pool, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_pool_list": (ctypes.c_int32, [invivo_pool, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_pool_count": (ctypes.c_int32, [invivo_pool, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_pool_clear": (ctypes.c_int32, [invivo_pool, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_key_outline": (ctypes.c_int32, [invivo_runtime, invivo_key, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_scope_register": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_scope_options), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_scope_end": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.c_uint64, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_report_untracked": (ctypes.c_uint64, [ctypes.c_void_p, ctypes.c_size_t], False),
    "invivo_error_copy": (ctypes.c_void_p, [ctypes.c_void_p], True),
    "invivo_runtime_retired": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_key_of_type": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint32, ctypes.POINTER(invivo_key), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_runtime_sources": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_callbacks_cell": (ctypes.POINTER(ctypes.c_int32), [], True),
    "invivo_runtime_options_init_sized": (None, [ctypes.POINTER(invivo_runtime_options), ctypes.c_size_t], True),
    "invivo_changes_watch": (ctypes.c_int32, [invivo_changes, ctypes.POINTER(invivo_source_options), ctypes.POINTER(invivo_source), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_report_warning_count": (ctypes.c_size_t, [ctypes.c_void_p], True),
    "invivo_report_warning": (ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_size_t], True),
    "invivo_key_describe": (ctypes.c_int32, [invivo_runtime, invivo_key, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_runtime_generation": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_view_config_late": (ctypes.POINTER(invivo_value), [invivo_view, invivo_config], True),
    "invivo_changes_expect": (ctypes.c_int32, [invivo_changes, ctypes.c_uint64, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_report_location": (ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_size_t], True),
    "invivo_report_omitted": (ctypes.c_uint64, [ctypes.c_void_p], True),
    "invivo_runtime_reports": (ctypes.c_int32, [invivo_runtime, ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p), ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_pin_begin": (invivo_pin, [invivo_runtime, ctypes.POINTER(invivo_place)], True),
    "invivo_pin_hold": (invivo_pin, [invivo_runtime, ctypes.POINTER(invivo_place)], True),
    "invivo_pin_enter": (ctypes.c_int32, [invivo_pin, ctypes.POINTER(invivo_pin), ctypes.POINTER(ctypes.c_void_p)], True),
    "invivo_pin_end": (ctypes.c_int32, [invivo_pin], True),
    "invivo_pin_generation": (ctypes.c_uint64, [invivo_pin], True),
    "invivo_pin_current": (invivo_pin, [invivo_runtime], True),
    "invivo_source_retry": (ctypes.c_int32, [invivo_source, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_rollback": (ctypes.c_int32, [invivo_runtime, ctypes.c_uint64, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_changes_rollback": (ctypes.c_int32, [invivo_changes, ctypes.c_uint64, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_runtime_history": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_mark": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_unmark": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_marked": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_changes_add_rule": (ctypes.c_int32, [invivo_changes, ctypes.POINTER(invivo_rule), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_changes_remove_rule": (ctypes.c_int32, [invivo_changes, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_rule_add": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_rule), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_rule_remove": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_effect": (ctypes.c_int32, [invivo_runtime, ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)), ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_child": (ctypes.c_int32, [invivo_runtime, invivo_key, ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.POINTER(invivo_object), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_child_make": (ctypes.c_int32, [invivo_runtime, invivo_type, ctypes.POINTER(invivo_value), ctypes.c_size_t, ctypes.POINTER(invivo_object), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_observer_generation": (ctypes.c_int32, [invivo_observer, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_void_p)], True),
    "invivo_runtime_status": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_runtime_options_read": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_runtime_options), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_runtime_options_change": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_runtime_options), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_report_cause_count": (ctypes.c_size_t, [ctypes.c_void_p], True),
    "invivo_report_cause_kind": (ctypes.c_uint32, [ctypes.c_void_p, ctypes.c_size_t], True),
    "invivo_report_cause_name": (ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_size_t], True),
    "invivo_report_warning_kind": (ctypes.c_uint32, [ctypes.c_void_p, ctypes.c_size_t], True),
    "invivo_report_warning_file": (ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_size_t], True),
    "invivo_report_warning_line": (ctypes.c_uint32, [ctypes.c_void_p, ctypes.c_size_t], True),
    "invivo_report_warning_column": (ctypes.c_uint32, [ctypes.c_void_p, ctypes.c_size_t], True),
    "invivo_report_origin": (ctypes.c_uint32, [ctypes.c_void_p, ctypes.c_size_t], True),
    "invivo_report_layer": (ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_size_t], True),
    "invivo_report_file": (ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_size_t], True),
    "invivo_report_line": (ctypes.c_uint32, [ctypes.c_void_p, ctypes.c_size_t], True),
    "invivo_report_column": (ctypes.c_uint32, [ctypes.c_void_p, ctypes.c_size_t], True),
    "invivo_layers_set": (ctypes.c_int32, [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], True),
    "invivo_layers_scale": (ctypes.c_int32, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_double, ctypes.POINTER(ctypes.c_void_p)], True),
    "invivo_layers_offset": (ctypes.c_int32, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_double, ctypes.POINTER(ctypes.c_void_p)], True),
    "invivo_changes_add_trait": (ctypes.c_int32, [invivo_changes, ctypes.POINTER(invivo_trait), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_changes_remove_trait": (ctypes.c_int32, [invivo_changes, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_trait_add": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_trait), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_trait_remove": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_runtime_refresh_environment": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_runtime_advance": (ctypes.c_int32, [invivo_runtime, ctypes.c_uint64, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_property_text": (ctypes.c_int32, [invivo_type, ctypes.c_char_p, ctypes.POINTER(invivo_value), ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_property_read": (ctypes.c_int32, [invivo_type, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_document_text": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.c_uint32, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_traits_text": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint32, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_changes_bind_settings": (ctypes.c_int32, [invivo_changes, ctypes.POINTER(invivo_settings), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_changes_unbind_settings": (ctypes.c_int32, [invivo_changes, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_settings_bind": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_settings), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_settings_unbind": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_settings_id": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.POINTER(invivo_config), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_settings_read": (ctypes.c_int32, [invivo_view, invivo_runtime, invivo_config, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_changes_add_secret": (ctypes.c_int32, [invivo_changes, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_changes_remove_secret": (ctypes.c_int32, [invivo_changes, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_config_is_secret": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.POINTER(ctypes.c_bool), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_settings_typed_id": (ctypes.c_int32, [invivo_runtime, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.POINTER(invivo_config), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_settings_type_add": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_settings_type), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_context_declare_kinds": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_context_kind), ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_context_declare_key": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_context_key), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_context_open": (ctypes.c_int32, [invivo_runtime, ctypes.POINTER(invivo_context_options), ctypes.POINTER(invivo_context), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_context_end": (ctypes.c_int32, [invivo_context, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_context_retain": (ctypes.c_int32, [invivo_context, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_context_release": (ctypes.c_int32, [invivo_context, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_context_get": (ctypes.c_int32, [invivo_context, invivo_key, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], True),
    "invivo_context_get_local": (ctypes.c_int32, [invivo_context, invivo_key, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], True),
    "invivo_view_context_value": (ctypes.POINTER(invivo_value), [invivo_view, invivo_context, invivo_key], True),
    "invivo_context_set": (ctypes.c_int32, [invivo_context, invivo_key, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_context_remove": (ctypes.c_int32, [invivo_context, invivo_key, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_context_hide": (ctypes.c_int32, [invivo_context, invivo_key, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_context_change_values": (ctypes.c_int32, [invivo_context, ctypes.POINTER(invivo_context_change), ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_context_entries": (ctypes.c_int32, [invivo_context, ctypes.c_bool, ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_context_observe": (ctypes.c_int32, [invivo_context, invivo_key, ctypes.POINTER(invivo_context_observer), ctypes.POINTER(invivo_observer), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_context_parent": (ctypes.c_int32, [invivo_context, ctypes.POINTER(invivo_context), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_context_kind_name": (ctypes.c_int32, [invivo_context, ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_context_object": (ctypes.c_int32, [invivo_context, ctypes.POINTER(invivo_object), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_context_runtime": (ctypes.c_int32, [invivo_context, ctypes.POINTER(invivo_runtime), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_context_find": (ctypes.c_int32, [invivo_context, ctypes.POINTER(invivo_context_query), ctypes.POINTER(invivo_context), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_context_enter": (ctypes.c_int32, [invivo_context, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_context_leave": (ctypes.c_int32, [invivo_context, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_context_current": (invivo_context, [invivo_runtime], True),
    "invivo_context_attach": (ctypes.c_int32, [invivo_context, invivo_object, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_context_detach": (ctypes.c_int32, [invivo_object, ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_context_of": (ctypes.c_int32, [invivo_object, ctypes.POINTER(invivo_context), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_context_end_with": (ctypes.c_int32, [invivo_context, ctypes.POINTER(invivo_context_ending), ctypes.POINTER(invivo_value), ctypes.POINTER(ctypes.c_void_p)], False),
    "invivo_context_failure": (ctypes.c_int32, [invivo_context, ctypes.POINTER(ctypes.c_char_p)], False),
    "invivo_context_resolve": (ctypes.c_int32, [invivo_context, invivo_key, ctypes.POINTER(invivo_object), ctypes.POINTER(ctypes.c_void_p)], False),
}

# The function table's entries, in its order.
TABLE: list[str] = [
    "invivo_status_name",
    "invivo_status_text",
    "invivo_version",
    "invivo_version_text",
    "invivo_error_make",
    "invivo_error_code",
    "invivo_error_message",
    "invivo_error_path",
    "invivo_error_file",
    "invivo_error_line",
    "invivo_error_column",
    "invivo_error_cause",
    "invivo_error_count",
    "invivo_error_at",
    "invivo_error_text",
    "invivo_error_release",
    "invivo_error_report",
    "invivo_value_copy",
    "invivo_value_clear",
    "invivo_value_convert",
    "invivo_kind_name",
    "invivo_callable_make",
    "invivo_callable_call",
    "invivo_callable_retain",
    "invivo_callable_release",
    "invivo_callable_user_data",
    "invivo_type_register",
    "invivo_type_find",
    "invivo_type_name",
    "invivo_type_property_count",
    "invivo_type_property_at",
    "invivo_type_method_count",
    "invivo_type_method_at",
    "invivo_runtime_options_init",
    "invivo_runtime_open",
    "invivo_runtime_close",
    "invivo_runtime_close_deferred",
    "invivo_runtime_poll",
    "invivo_runtime_descriptor",
    "invivo_thread_prepare",
    "invivo_domain_register",
    "invivo_job_run",
    "invivo_job_drop",
    "invivo_runtime_inspect",
    "invivo_runtime_last_error",
    "invivo_live",
    "invivo_object_retain",
    "invivo_object_release",
    "invivo_object_get",
    "invivo_object_set",
    "invivo_object_call",
    "invivo_object_instance",
    "invivo_object_type",
    "invivo_object_key",
    "invivo_object_runtime",
    "invivo_object_make",
    "invivo_object_wrap",
    "invivo_target_attach",
    "invivo_target_detach",
    "invivo_target_declare",
    "invivo_key_intern",
    "invivo_key_find",
    "invivo_key_name",
    "invivo_key_version",
    "invivo_changes_open",
    "invivo_changes_define",
    "invivo_changes_remove",
    "invivo_changes_document",
    "invivo_changes_set",
    "invivo_changes_commit",
    "invivo_changes_submit",
    "invivo_changes_discard",
    "invivo_define",
    "invivo_define_block",
    "invivo_resolve",
    "invivo_resolve_with",
    "invivo_resolve_name",
    "invivo_peek",
    "invivo_view_begin",
    "invivo_view_end",
    "invivo_view_key",
    "invivo_view_get_confined",
    "invivo_source_open",
    "invivo_watch",
    "invivo_source_update",
    "invivo_source_refresh",
    "invivo_source_close",
    "invivo_report_generation",
    "invivo_report_status",
    "invivo_report_cause",
    "invivo_report_error",
    "invivo_report_count",
    "invivo_report_key",
    "invivo_report_change",
    "invivo_report_property",
    "invivo_report_nanoseconds",
    "invivo_report_text",
    "invivo_observe",
    "invivo_observer_close",
    "invivo_table_get",
    "invivo_module_load",
    "invivo_stubs_use",
    "invivo_share",
    "invivo_attach",
    "invivo_app_open",
    "invivo_app_runtime",
    "invivo_app_close",
    "invivo_app_needs_python",
    "invivo_error_make_at",
    "invivo_error_join",
    "invivo_type_parameter_count",
    "invivo_type_parameter_at",
    "invivo_callbacks_guard",
    "invivo_callbacks_end",
    "invivo_resolve_optional",
    "invivo_resolve_type",
    "invivo_resolve_all",
    "invivo_inject",
    "invivo_runtime_note_error",
    "invivo_override_begin",
    "invivo_override_end",
    "invivo_target_detach_later",
    "invivo_error_rule",
    "invivo_error_needed_by",
    "invivo_changes_check",
    "invivo_assembly_describe",
    "invivo_assembly_forget",
    "invivo_assembly_state",
    "invivo_activate",
    "invivo_deactivate",
    "invivo_mount",
    "invivo_changes_activate",
    "invivo_changes_deactivate",
    "invivo_changes_mount",
    "invivo_graph_describe",
    "invivo_app_check",
    "invivo_changes_process",
    "invivo_changes_unprocess",
    "invivo_inject_with",
    "invivo_inject_tree",
    "invivo_resolve_async",
    "invivo_config_id",
    "invivo_config_path",
    "invivo_config_read",
    "invivo_config_observe",
    "invivo_changes_configure",
    "invivo_converter_register",
    "invivo_converter_unregister",
    "invivo_convert",
    "invivo_type_extend",
    "invivo_runtime_states",
    "invivo_changes_reset",
    "invivo_changes_reset_scope",
    "invivo_start",
    "invivo_stop",
    "invivo_report_stop_error",
    "invivo_pool_open",
    "invivo_pool_find",
    "invivo_pool_close",
    "invivo_pool_get",
    "invivo_pool_peek",
    "invivo_pool_peek_instance",
    "invivo_pool_put",
    "invivo_pool_remove",
    "invivo_pool_list",
    "invivo_pool_count",
    "invivo_pool_clear",
    "invivo_key_outline",
    "invivo_scope_register",
    "invivo_scope_end",
    "invivo_report_untracked",
    "invivo_error_copy",
    "invivo_runtime_retired",
    "invivo_key_of_type",
    "invivo_runtime_sources",
    "invivo_callbacks_cell",
    "invivo_runtime_options_init_sized",
    "invivo_changes_watch",
    "invivo_report_warning_count",
    "invivo_report_warning",
    "invivo_key_describe",
    "invivo_runtime_generation",
    "invivo_view_config_late",
    "invivo_changes_expect",
    "invivo_report_location",
    "invivo_report_omitted",
    "invivo_runtime_reports",
    "invivo_pin_begin",
    "invivo_pin_hold",
    "invivo_pin_enter",
    "invivo_pin_end",
    "invivo_pin_generation",
    "invivo_pin_current",
    "invivo_source_retry",
    "invivo_rollback",
    "invivo_changes_rollback",
    "invivo_runtime_history",
    "invivo_mark",
    "invivo_unmark",
    "invivo_marked",
    "invivo_changes_add_rule",
    "invivo_changes_remove_rule",
    "invivo_rule_add",
    "invivo_rule_remove",
    "invivo_effect",
    "invivo_child",
    "invivo_child_make",
    "invivo_observer_generation",
    "invivo_runtime_status",
    "invivo_runtime_options_read",
    "invivo_runtime_options_change",
    "invivo_report_cause_count",
    "invivo_report_cause_kind",
    "invivo_report_cause_name",
    "invivo_report_warning_kind",
    "invivo_report_warning_file",
    "invivo_report_warning_line",
    "invivo_report_warning_column",
    "invivo_report_origin",
    "invivo_report_layer",
    "invivo_report_file",
    "invivo_report_line",
    "invivo_report_column",
    "invivo_layers_set",
    "invivo_layers_scale",
    "invivo_layers_offset",
    "invivo_changes_add_trait",
    "invivo_changes_remove_trait",
    "invivo_trait_add",
    "invivo_trait_remove",
    "invivo_runtime_refresh_environment",
    "invivo_runtime_advance",
    "invivo_property_text",
    "invivo_property_read",
    "invivo_document_text",
    "invivo_traits_text",
    "invivo_changes_bind_settings",
    "invivo_changes_unbind_settings",
    "invivo_settings_bind",
    "invivo_settings_unbind",
    "invivo_settings_id",
    "invivo_settings_read",
    "invivo_changes_add_secret",
    "invivo_changes_remove_secret",
    "invivo_config_is_secret",
    "invivo_settings_typed_id",
    "invivo_settings_type_add",
    "invivo_context_declare_kinds",
    "invivo_context_declare_key",
    "invivo_context_open",
    "invivo_context_end",
    "invivo_context_retain",
    "invivo_context_release",
    "invivo_context_get",
    "invivo_context_get_local",
    "invivo_view_context_value",
    "invivo_context_set",
    "invivo_context_remove",
    "invivo_context_hide",
    "invivo_context_change_values",
    "invivo_context_entries",
    "invivo_context_observe",
    "invivo_context_parent",
    "invivo_context_kind_name",
    "invivo_context_object",
    "invivo_context_runtime",
    "invivo_context_find",
    "invivo_context_enter",
    "invivo_context_leave",
    "invivo_context_current",
    "invivo_context_attach",
    "invivo_context_detach",
    "invivo_context_of",
    "invivo_context_end_with",
    "invivo_context_failure",
    "invivo_context_resolve",
]


class invivo_table(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("abi_version", ctypes.c_uint32),
        ("function_count", ctypes.c_uint32),
        *((name.removeprefix("invivo_"), ctypes.c_void_p) for name in TABLE),
    ]
