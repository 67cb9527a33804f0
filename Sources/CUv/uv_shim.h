/* uv_shim.h: libuv, and what the loop room needs of libc that Swift's own import leaves out. No logic.
 * The GNU extensions are declared by hand: with _GNU_SOURCE some structs of libc differ from those that Swift sees. */
#ifndef INVIVO_UV_SHIM_H
#define INVIVO_UV_SHIM_H

#include <sys/epoll.h>
#include <sys/vfs.h>
#include <uv.h>

extern const char *strerrordesc_np(int code);

/* The text of an errno value, in English whatever the host's locale; NULL when there is none. */
static inline const char *iv_error_text(int code) { return strerrordesc_np(code); }

#endif
