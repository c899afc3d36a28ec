// SPDX-License-Identifier: MIT
// POSIX threads for WebAssembly, where none can be started: mutexes and conditions do nothing.
#ifndef SAMPL_EXPLORER_WASI_PTHREAD_H
#define SAMPL_EXPLORER_WASI_PTHREAD_H

#include <errno.h>
#include <stddef.h>

typedef int pthread_t, pthread_mutex_t, pthread_cond_t, pthread_attr_t;

#define PTHREAD_MUTEX_INITIALIZER 0
#define PTHREAD_COND_INITIALIZER  0

static inline int pthread_mutex_lock(pthread_mutex_t *mutex) { return 0; }
static inline int pthread_mutex_unlock(pthread_mutex_t *mutex) { return 0; }
static inline int pthread_mutex_destroy(pthread_mutex_t *mutex) { return 0; }
static inline int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex) { return EAGAIN; }
static inline int pthread_cond_signal(pthread_cond_t *cond) { return 0; }
static inline int pthread_cond_broadcast(pthread_cond_t *cond) { return 0; }
static inline int pthread_cond_destroy(pthread_cond_t *cond) { return 0; }
static inline int pthread_attr_init(pthread_attr_t *attr) { return 0; }
static inline int pthread_attr_setstacksize(pthread_attr_t *attr, size_t size) { return 0; }
static inline int pthread_attr_destroy(pthread_attr_t *attr) { return 0; }
static inline int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*work)(void *), void *arg)
{
    return EAGAIN;
}
static inline int pthread_join(pthread_t thread, void **result) { return EINVAL; }

#endif
