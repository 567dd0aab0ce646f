/* The libc calls that hand bulk memory of the program to the kernel, which does not fault on our behalf: on a closed
 * page they fail with EFAULT, or stop halfway.  Only bulk data matters: pages of tracked blocks hold nothing else, so
 * no path name, structure or stdio buffer can lie in one.
 *
 * CALL(result, name, (parameters), (arguments), what is touched).  FILL: the kernel writes there, perhaps only a
 * part, so the bytes must be valid before; DRAIN: it reads.  Included by io.c once for each thing it makes of the
 * list. */

/* The kernel writes. */
CALL(ssize_t, read, (int fd, void *p, size_t n), (fd, p, n), FILL(p, n))
CALL(ssize_t, pread, (int fd, void *p, size_t n, off_t at), (fd, p, n, at), FILL(p, n))
CALL(ssize_t, pread64, (int fd, void *p, size_t n, off64_t at), (fd, p, n, at), FILL(p, n))
CALL(ssize_t, readv, (int fd, const struct iovec *v, int c), (fd, v, c), FILL_V(v, c))
CALL(ssize_t, preadv, (int fd, const struct iovec *v, int c, off_t at), (fd, v, c, at), FILL_V(v, c))
CALL(ssize_t, preadv64, (int fd, const struct iovec *v, int c, off64_t at), (fd, v, c, at), FILL_V(v, c))
CALL(ssize_t, preadv2, (int fd, const struct iovec *v, int c, off_t at, int f), (fd, v, c, at, f), FILL_V(v, c))
CALL(ssize_t, preadv64v2, (int fd, const struct iovec *v, int c, off64_t at, int f), (fd, v, c, at, f), FILL_V(v, c))
CALL(ssize_t, recv, (int fd, void *p, size_t n, int f), (fd, p, n, f), FILL(p, n))
CALL(ssize_t, recvfrom, (int fd, void *p, size_t n, int f, __SOCKADDR_ARG from, socklen_t *l), (fd, p, n, f, from, l),
     FILL(p, n))
CALL(ssize_t, recvmsg, (int fd, struct msghdr *m, int f), (fd, m, f), FILL_MSG(m))
CALL(int, recvmmsg, (int fd, struct mmsghdr *m, unsigned c, int f, struct timespec *t), (fd, m, c, f, t),
     FILL_MSGS(m, c))
CALL(ssize_t, getrandom, (void *p, size_t n, unsigned f), (p, n, f), FILL(p, n))
CALL(int, getentropy, (void *p, size_t n), (p, n), FILL(p, n))
CALL(size_t, fread, (void *p, size_t e, size_t n, FILE *s), (p, e, n, s), FILL(p, TIMES(e, n)))
CALL(size_t, fread_unlocked, (void *p, size_t e, size_t n, FILE *s), (p, e, n, s), FILL(p, TIMES(e, n)))

/* libc's second names of some. */
CALL(ssize_t, __read, (int fd, void *p, size_t n), (fd, p, n), FILL(p, n))
CALL(ssize_t, __pread64, (int fd, void *p, size_t n, off64_t at), (fd, p, n, at), FILL(p, n))

/* Messages.  Both move one whole. */
CALL(ssize_t, msgrcv, (int q, void *p, size_t n, long type, int f), (q, p, n, type, f), FILL(p, n + sizeof(long)))
CALL(ssize_t, mq_receive, (mqd_t q, char *p, size_t n, unsigned *prio), (q, p, n, prio), FILL(p, n))
CALL(ssize_t, mq_timedreceive, (mqd_t q, char *p, size_t n, unsigned *prio, const struct timespec *t),
     (q, p, n, prio, t), FILL(p, n))

/* Between descriptors: only the offsets are memory. */
CALL(ssize_t, sendfile, (int out, int in, off_t *at, size_t n), (out, in, at, n), FILL(at, sizeof *at))
CALL(ssize_t, sendfile64, (int out, int in, off64_t *at, size_t n), (out, in, at, n), FILL(at, sizeof *at))
CALL(ssize_t, copy_file_range, (int in, off64_t *from, int out, off64_t *to, size_t n, unsigned f),
     (in, from, out, to, n, f), (FILL(from, sizeof *from), FILL(to, sizeof *to)))
CALL(ssize_t, splice, (int in, off64_t *from, int out, off64_t *to, size_t n, unsigned f), (in, from, out, to, n, f),
     (FILL(from, sizeof *from), FILL(to, sizeof *to)))

/* The same in programs compiled with _FORTIFY_SOURCE; `room` is checked by libc. */
CALL(ssize_t, __read_chk, (int fd, void *p, size_t n, size_t room), (fd, p, n, room), FILL(p, n))
CALL(ssize_t, __pread_chk, (int fd, void *p, size_t n, off_t at, size_t room), (fd, p, n, at, room), FILL(p, n))
CALL(ssize_t, __pread64_chk, (int fd, void *p, size_t n, off64_t at, size_t room), (fd, p, n, at, room), FILL(p, n))
CALL(ssize_t, __recv_chk, (int fd, void *p, size_t n, size_t room, int f), (fd, p, n, room, f), FILL(p, n))
CALL(ssize_t, __recvfrom_chk, (int fd, void *p, size_t n, size_t room, int f, __SOCKADDR_ARG from, socklen_t *l),
     (fd, p, n, room, f, from, l), FILL(p, n))
CALL(size_t, __fread_chk, (void *p, size_t room, size_t e, size_t n, FILE *s), (p, room, e, n, s), FILL(p, TIMES(e, n)))
CALL(size_t, __fread_unlocked_chk, (void *p, size_t room, size_t e, size_t n, FILE *s), (p, room, e, n, s),
     FILL(p, TIMES(e, n)))

/* The kernel reads. */
CALL(ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n), DRAIN(p, n))
CALL(ssize_t, pwrite, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at), DRAIN(p, n))
CALL(ssize_t, pwrite64, (int fd, const void *p, size_t n, off64_t at), (fd, p, n, at), DRAIN(p, n))
CALL(ssize_t, writev, (int fd, const struct iovec *v, int c), (fd, v, c), DRAIN_V(v, c))
CALL(ssize_t, pwritev, (int fd, const struct iovec *v, int c, off_t at), (fd, v, c, at), DRAIN_V(v, c))
CALL(ssize_t, pwritev64, (int fd, const struct iovec *v, int c, off64_t at), (fd, v, c, at), DRAIN_V(v, c))
CALL(ssize_t, pwritev2, (int fd, const struct iovec *v, int c, off_t at, int f), (fd, v, c, at, f), DRAIN_V(v, c))
CALL(ssize_t, pwritev64v2, (int fd, const struct iovec *v, int c, off64_t at, int f), (fd, v, c, at, f), DRAIN_V(v, c))
CALL(ssize_t, __write, (int fd, const void *p, size_t n), (fd, p, n), DRAIN(p, n))
CALL(ssize_t, __pwrite64, (int fd, const void *p, size_t n, off64_t at), (fd, p, n, at), DRAIN(p, n))
CALL(ssize_t, __send, (int fd, const void *p, size_t n, int f), (fd, p, n, f), DRAIN(p, n))
CALL(ssize_t, vmsplice, (int fd, const struct iovec *v, size_t c, unsigned f), (fd, v, c, f), DRAIN_V(v, c))
CALL(ssize_t, send, (int fd, const void *p, size_t n, int f), (fd, p, n, f), DRAIN(p, n))
CALL(ssize_t, sendto, (int fd, const void *p, size_t n, int f, __CONST_SOCKADDR_ARG to, socklen_t l),
     (fd, p, n, f, to, l), DRAIN(p, n))
CALL(ssize_t, sendmsg, (int fd, const struct msghdr *m, int f), (fd, m, f), DRAIN_MSG(m))
CALL(int, sendmmsg, (int fd, struct mmsghdr *m, unsigned c, int f), (fd, m, c, f), DRAIN_MSGS(m, c))
CALL(size_t, fwrite, (const void *p, size_t e, size_t n, FILE *s), (p, e, n, s), DRAIN(p, TIMES(e, n)))
CALL(size_t, fwrite_unlocked, (const void *p, size_t e, size_t n, FILE *s), (p, e, n, s), DRAIN(p, TIMES(e, n)))
CALL(int, msgsnd, (int q, const void *p, size_t n, int f), (q, p, n, f), DRAIN(p, n + sizeof(long)))
CALL(int, mq_send, (mqd_t q, const char *p, size_t n, unsigned prio), (q, p, n, prio), DRAIN(p, n))
CALL(int, mq_timedsend, (mqd_t q, const char *p, size_t n, unsigned prio, const struct timespec *t), (q, p, n, prio, t),
     DRAIN(p, n))
CALL(int, mlock, (const void *p, size_t n), (p, n), DRAIN(p, n))
CALL(int, mlock2, (const void *p, size_t n, unsigned f), (p, n, f), DRAIN(p, n))

/* Another process's memory to or from ours.  (Others reading ours this way is beyond reach: see README.) */
CALL(ssize_t, process_vm_readv,
     (pid_t pid, const struct iovec *v, unsigned long c, const struct iovec *r, unsigned long d, unsigned long f),
     (pid, v, c, r, d, f), FILL_V(v, c))
CALL(ssize_t, process_vm_writev,
     (pid_t pid, const struct iovec *v, unsigned long c, const struct iovec *r, unsigned long d, unsigned long f),
     (pid, v, c, r, d, f), DRAIN_V(v, c))

/* Asynchronous: the range is home when the request is queued. */
CALL(int, aio_read, (struct aiocb *b), (b), FILL((void *)b->aio_buf, b->aio_nbytes))
CALL(int, aio_read64, (struct aiocb64 *b), (b), FILL((void *)b->aio_buf, b->aio_nbytes))
CALL(int, aio_write, (struct aiocb *b), (b), DRAIN((void *)b->aio_buf, b->aio_nbytes))
CALL(int, aio_write64, (struct aiocb64 *b), (b), DRAIN((void *)b->aio_buf, b->aio_nbytes))
CALL(int, lio_listio, (int mode, struct aiocb *const *l, int c, struct sigevent *e), (mode, l, c, e), AIO_LIST(l, c))
CALL(int, lio_listio64, (int mode, struct aiocb64 *const *l, int c, struct sigevent *e), (mode, l, c, e),
     AIO_LIST(l, c))
