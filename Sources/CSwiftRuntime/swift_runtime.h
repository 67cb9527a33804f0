/* swift_runtime.h: the functions of the Swift runtime that the language has no words for. */
#ifndef INVIVO_SWIFT_RUNTIME_H
#define INVIVO_SWIFT_RUNTIME_H

/* The function that the compiler calls to convert `any P` to `any P.Type`. */
extern const void *swift_getExistentialMetatypeMetadata(const void *instance_type);

/* How many strong references there are to an instance. */
extern __SIZE_TYPE__ swift_retainCount(void *instance);

#endif
