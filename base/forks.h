/* What the library's folders do around a fork. */
#ifndef SC_BASE_FORKS_H
#define SC_BASE_FORKS_H

/* pthread_atfork, and the same for forks of which libc tells nobody (host/process.c).  Each may be NULL. */
void sc_forks_register(void (*prepare)(void), void (*parent)(void), void (*child)(void));

/* For those forks: what has been registered here, in pthread_atfork's order.  prepare, and then parent, or child in the
 * new process, on the thread that forks. */
void sc_forks_prepare(void);
void sc_forks_parent(void);
void sc_forks_child(void);

#endif
