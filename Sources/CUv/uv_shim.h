/* uv_shim.h: libuv, and functions of libc for InvivoLoop that Swift does not import. No logic.
 * The GNU extensions are declared by hand: with _GNU_SOURCE some structs of libc differ from those that Swift sees. */
#ifndef INVIVO_UV_SHIM_H
#define INVIVO_UV_SHIM_H

#include <sys/epoll.h>
#include <sys/vfs.h>
#include <uv.h>

extern const char *strerrordesc_np(int code);

/* The text of an errno value, in English in any locale; NULL when there is none. */
static inline const char *iv_error_text(int code) { return strerrordesc_np(code); }

#endif
