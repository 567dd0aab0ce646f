/* What doc/limits.md says of accesses that the library does not see, while a device holds C. Each prints what happened.
 *
 *     beyond KIND [PATH] */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define N 256
#include "semcache/semcache.h"
#include "tests/doubled.h"
#include "tests/past_libc.h"

#pragma weak semcache_acquire /* of the preloaded library */

static void say_values(void) { printf("C is %s\n", count_wrong() ? "wrong" : "right"); }

/* Reads an element of C in the parent as a debugger does. */
static long peek(pid_t parent, double *seen)
{
    int status;

    if (ptrace(PTRACE_SEIZE, parent, NULL, NULL) != 0 || ptrace(PTRACE_INTERRUPT, parent, NULL, NULL) != 0 ||
        waitpid(parent, &status, __WALL) != parent)
        return -1;
    errno = 0;
    *(long *)seen = ptrace(PTRACE_PEEKDATA, parent, c + N, NULL);
    status = errno;
    ptrace(PTRACE_DETACH, parent, NULL, NULL);
    errno = status;
    return errno ? -1 : (long)sizeof *seen;
}

/* What a child made before the call reads of C: by process_vm_readv (kind 'p'), from the parent's file of memory ('f'),
 * or by ptrace ('t'). */
static void read_by_child(char kind, int acquired)
{
    int go[2], status;
    pid_t child;
    char one = 1;

    if (pipe(go) != 0)
        exit(99);
    child = fork();
    if (child > 0)
        prctl(PR_SET_PTRACER, child, 0, 0, 0);
    if (child == 0) {
        double seen = -1;
        struct iovec to = {&seen, sizeof seen}, from = {c + N, sizeof seen};
        char path[32];
        long got;

        snprintf(path, sizeof path, "/proc/%d/mem", (int)getppid());
        if (read(go[0], &one, 1) != 1)
            _exit(99);
        if (kind == 't')
            got = peek(getppid(), &seen);
        else if (kind == 'f')
            got = pread(open(path, O_RDONLY), &seen, sizeof seen, (off_t)(uintptr_t)(c + N));
        else
            got = process_vm_readv(getppid(), &to, 1, &from, 1, 0);
        _exit(got < 0 ? errno == EFAULT ? 2 : 98 : seen == 2.0 * N ? 0 : 1);
    }
    multiply();
    if (acquired)
        semcache_acquire(c, sizeof *c * N * N, SEMCACHE_READ);
    if (write(go[1], &one, 1) != 1)
        exit(99);
    waitpid(child, &status, 0);
    status = WIFEXITED(status) ? WEXITSTATUS(status) : 97;
    printf("the child finds %s\n", status == 0 ? "the new value" : status == 1 ? "an old value"
                                   : status == 2 ? "EFAULT" : "something else");
}

/* The program reads C from its own file of memory, under the name of a link. */
static void read_by_link(const char *name, int acquired)
{
    double seen = -1;
    int file = symlink("/proc/self/mem", name) == 0 ? open(name, O_RDONLY) : -1;

    multiply();
    if (acquired)
        semcache_acquire(c, sizeof *c * N * N, SEMCACHE_READ);
    if (pread(file, &seen, sizeof seen, (off_t)(uintptr_t)(c + N)) != sizeof seen)
        exit(98);
    printf("the program finds %s\n", seen == 2.0 * N ? "the new value" : "an old value");
}

/* --- a string that another thread's calls close ------------------------------------------------------------------- */

enum { LETTERS = 20000 };
static atomic_int printing, products;

static void *multiply_meanwhile(void *none)
{
    volatile double seen = 0;

    while (atomic_load(&printing)) { /* looking at the result keeps the queue of calls short */
        multiply();
        seen += c[N * N - 1];
        atomic_fetch_add(&products, 1);
    }
    return none;
}

/* C := 2 A has bytes of the letter x in its first columns.  Prints them with %s while another thread makes C again. */
static void print_string(const char *path)
{
    FILE *file = fopen(path, "w+");
    char *text = (char *)c, *back = malloc(LETTERS + 1);
    int wrong = 0;
    pthread_t thread;

    if (!file)
        exit(98);
    memset(a, 'x', LETTERS);
    for (size_t i = 0; i < LETTERS / sizeof *a; i++)
        a[i] /= 2; /* exact: the exponent is one less */
    multiply();
    text[LETTERS - 1] = '\0';
    printf("quiet: %s\n", fprintf(file, "%s", text) == LETTERS - 1 && fflush(file) == 0 ? "printed" : "failed");
    a[LETTERS / sizeof *a] = 0; /* ends the string in each product */
    multiply();
    atomic_store(&printing, 1);
    pthread_create(&thread, NULL, multiply_meanwhile, NULL);
    while (atomic_load(&products) < 100) {
        rewind(file);
        clearerr(file);
        errno = 0;
        if (fprintf(file, "%s", text) < LETTERS / 2 || fflush(file) != 0)
            wrong += errno != EFAULT && errno != EINVAL;
        else if (pread(fileno(file), back, LETTERS, 0) < LETTERS / 2 || strspn(back, "x") < LETTERS / 2)
            wrong++;
    }
    atomic_store(&printing, 0);
    pthread_join(thread, NULL);
    printf("busy: %s\n", wrong ? "wrong bytes" : "printed or failed");
}

/* --- a coroutine that libc does not know -------------------------------------------------------------------------- */

enum { BLOCK = 2 << 20, OFFSET = 65536 + 1024 };
static atomic_int turn;
static double *result;

static void *multiply_once(void *none)
{
    while (atomic_load(&turn) != 1)
        ;
    c = result;
    multiply();
    atomic_store(&turn, 2);
    return none;
}

/* On the coroutine's stack, below the array of the coroutine. */
static void __attribute__((noinline)) wait_and_look(void)
{
    atomic_store(&turn, 1);
    while (atomic_load(&turn) != 2)
        ;
    say_values();
}

static void __attribute__((noinline)) run_on(char *stack, void (*body)(void))
{
    __asm__ volatile("mov %%rsp, %%rbx\n\tmov %0, %%rsp\n\tcall *%1\n\tmov %%rbx, %%rsp"
                     :
                     : "r"(stack), "r"(body)
                     : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
}

/* known: the coroutine has called the BLAS before. */
static void run_coroutine(int known)
{
    char *block = calloc(1, BLOCK);
    pthread_t thread;

    result = (double *)(void *)(block + OFFSET);
    if (known)
        run_on(block + OFFSET, multiply);
    pthread_create(&thread, NULL, multiply_once, NULL);
    run_on(block + OFFSET, wait_and_look);
    pthread_join(thread, NULL);
}

/* The kernel writes to memory that a structure behind the argument of ioctl points to. */
static void ask_for_interfaces(int acquired)
{
    struct ifconf list = {.ifc_len = sizeof *c * N, .ifc_buf = (void *)c};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    multiply();
    if (acquired)
        semcache_acquire(c, sizeof *c * N * N, SEMCACHE_READWRITE);
    printf("ioctl %s\n", ioctl(fd, SIOCGIFCONF, &list) == 0 ? "succeeds" : errno == EFAULT ? "gives EFAULT" : "fails");
}

/* --- objects in a page of the result ------------------------------------------------------------------------------ */

/* Behind all columns of C but the last: a product of N - 1 columns closes the pages, and keeps the contents. */
static void *behind(void) { return c + (size_t)(N - 1) * N; }

static void multiply_but_one(void)
{
    const int n = N, m = N - 1;
    const double one = 1, zero = 0;

    dgemm_("N", "N", &n, &m, &n, &one, a, &n, b, &n, &zero, c, &n, 1, 1);
}

static ucontext_t here;
static void come_back(void) { setcontext(&here); }

/* Changes to contexts whose structures are in closed pages. */
static void change_contexts(void)
{
    ucontext_t *context = behind(), *saved = (void *)(c + N * N / 2);

    if (getcontext(context) != 0)
        exit(98);
    context->uc_stack.ss_sp = malloc(SIGSTKSZ);
    context->uc_stack.ss_size = SIGSTKSZ;
    makecontext(context, come_back, 0);
    multiply_but_one();
    printf("getcontext %s\n", getcontext(saved) == 0 ? "succeeds" : "fails");
    multiply_but_one();
    printf("swapcontext %s\n", swapcontext(&here, context) == 0 ? "succeeds" : "fails");
    multiply();
}

/* A thread of libc, which blocks all signals, reads the name that is asked for. */
static void ask_for_address(int acquired)
{
    static struct gaicb request;
    struct gaicb *list[] = {&request};
    const struct gaicb *waiting[] = {&request};

    request.ar_name = strcpy(behind(), "127.0.0.1");
    multiply_but_one();
    if (acquired)
        semcache_acquire(behind(), 16, SEMCACHE_READ);
    if (getaddrinfo_a(GAI_NOWAIT, list, 1, NULL) != 0)
        exit(98);
    while (gai_error(&request) == EAI_INPROGRESS)
        gai_suspend(waiting, 1, NULL);
    printf("the address is %s\n", gai_error(&request) == 0 ? "found" : "not found");
}

/* --- a copy by CUDA's driver -------------------------------------------------------------------------------------- */

static int cuda(void *driver, const char *name, long first, long second, long third)
{
    int (*fn)(long, long, long) = (int (*)(long, long, long))dlsym(driver, name);

    return fn ? fn(first, second, third) : -1;
}

/* A program's copy of C to memory of its own on a device, and back to an array outside malloc. */
static void copy_by_cuda(int acquired)
{
    static double seen[N * N];
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context = NULL;
    uint64_t copy = 0;
    int device = 0, error;

    error = !driver || cuda(driver, "cuInit", 0, 0, 0) || cuda(driver, "cuDeviceGet", (long)&device, 0, 0) ||
            cuda(driver, "cuDevicePrimaryCtxRetain", (long)&context, device, 0) ||
            cuda(driver, "cuCtxSetCurrent", (long)context, 0, 0) ||
            cuda(driver, "cuMemAlloc_v2", (long)&copy, sizeof seen, 0);
    if (error)
        exit(77);
    multiply();
    if (acquired)
        semcache_acquire(c, sizeof seen, SEMCACHE_READ);
    error = cuda(driver, "cuMemcpyHtoD_v2", (long)copy, (long)c, sizeof seen) ||
            cuda(driver, "cuMemcpyDtoH_v2", (long)seen, (long)copy, sizeof seen);
    printf("the copy has %s\n", error ? "an error" : seen[N * N / 2] == 1.0 * N * N ? "the new values" : "old values");
}

/* --- io_uring, by instructions of the program's own --------------------------------------------------------------- */

static struct {
    int fd;
    struct io_uring_params params;
    char *submissions, *completions;
    struct io_uring_sqe *entries;
} ring;

static void *map_ring(size_t bytes, off_t at)
{
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, at);
}

static void open_ring(void)
{
    struct io_uring_params *p = &ring.params;

    ring.fd = (int)system_call(SYS_io_uring_setup, 4, (long)p, 0, 0, 0, 0);
    if (ring.fd < 0)
        exit(77);
    ring.submissions = map_ring(p->sq_off.array + p->sq_entries * sizeof(uint32_t), IORING_OFF_SQ_RING);
    ring.completions = map_ring(p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
    ring.entries = map_ring(p->sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
    if (ring.submissions == MAP_FAILED || ring.completions == MAP_FAILED || (void *)ring.entries == MAP_FAILED)
        exit(98);
}

/* The result of one request, the first of the ring. */
static int request(int operation, int file, void *buffer, unsigned bytes)
{
    const struct io_uring_cqe *done = (void *)(ring.completions + ring.params.cq_off.cqes);

    ring.entries[0] = (struct io_uring_sqe){.opcode = (uint8_t)operation, .fd = file,
                                            .addr = (uintptr_t)buffer, .len = bytes};
    *(uint32_t *)(void *)(ring.submissions + ring.params.sq_off.array) = 0;
    __atomic_store_n((uint32_t *)(void *)(ring.submissions + ring.params.sq_off.tail), 1, __ATOMIC_RELEASE);
    if (system_call(SYS_io_uring_enter, ring.fd, 1, 1, IORING_ENTER_GETEVENTS, 0, 0) != 1)
        exit(98);
    return done->res;
}

/* io_uring writes an element of C to a file. kind: "ring": from where C is; "fixed": from a registered buffer. */
static void write_by_ring(const char *kind, const char *path)
{
    struct iovec all = {c, sizeof *c * N * N};
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600), fixed = *kind == 'f', got;
    double seen = -1;

    open_ring();
    if (fixed && system_call(SYS_io_uring_register, ring.fd, IORING_REGISTER_BUFFERS, (long)&all, 1, 0, 0) != 0)
        exit(77);
    multiply();
    if (strchr(kind, '+'))
        semcache_acquire(c, sizeof *c * N * N, SEMCACHE_READ);
    got = request(fixed ? IORING_OP_WRITE_FIXED : IORING_OP_WRITE, file, c + N, sizeof seen);
    if (got == sizeof seen && pread(file, &seen, sizeof seen, 0) != sizeof seen)
        exit(98);
    printf("io_uring %s\n", got == -EFAULT ? "gives EFAULT" : got < 0 ? "fails"
                               : seen == 2.0 * N ? "writes the new value" : "writes an old value");
}

/* By a direct system call; libc's function leaves SIGSEGV open. */
static void block_faults(void)
{
    uint64_t set = UINT64_C(1) << (SIGSEGV - 1);

    multiply();
    system_call(SYS_rt_sigprocmask, SIG_BLOCK, (long)&set, 0, sizeof set, 0, 0);
    say_values();
}

static void *look(void *computes)
{
    if (computes)
        multiply();
    say_values();
    return NULL;
}

/* A thread inherits its maker's mask. */
static void inherit_mask(int computes)
{
    uint64_t set = UINT64_C(1) << (SIGSEGV - 1);
    pthread_t thread;

    multiply();
    system_call(SYS_rt_sigprocmask, SIG_BLOCK, (long)&set, 0, sizeof set, 0, 0);
    pthread_create(&thread, NULL, look, computes ? &thread : NULL);
    pthread_join(thread, NULL);
}

static void see_fault(int sig) { (void)sig, _exit(97); }

/* The program's handler runs on the thread's alternate stack. The kernel accepts stacks too small for its own frame. */
static void leave_small_stack(size_t size)
{
    struct sigaction action = {.sa_handler = see_fault, .sa_flags = SA_ONSTACK};
    stack_t stack = {.ss_sp = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                     .ss_size = size};

    if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, NULL) != 0)
        exit(77);
    sigaction(SIGSEGV, &action, NULL);
    multiply();
}

/* Refuses one system call, in all threads. */
static void refuse_calls(long number)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {.len = sizeof code / sizeof *code, .filter = code};

    multiply();
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0)
        exit(77);
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";

    setvbuf(stdout, NULL, _IOLBF, 0);
    set_up();
    if (strncmp(kind, "file", 4) == 0 || strncmp(kind, "process", 7) == 0 || strncmp(kind, "trace", 5) == 0)
        read_by_child(*kind, strchr(kind, '+') != NULL);
    else if (strncmp(kind, "link", 4) == 0)
        read_by_link(argv[2], strchr(kind, '+') != NULL);
    else if (strcmp(kind, "string") == 0)
        print_string(argv[2]);
    else if (strncmp(kind, "coroutine", 9) == 0)
        run_coroutine(strchr(kind, '+') != NULL);
    else if (strcmp(kind, "chroot") == 0) {
        if (chroot(argv[2]) != 0)
            return 98;
        multiply();
    }
    else if (strncmp(kind, "ring", 4) == 0 || strncmp(kind, "fixed", 5) == 0)
        write_by_ring(kind, argv[2]);
    else if (strncmp(kind, "ioctl", 5) == 0)
        ask_for_interfaces(strchr(kind, '+') != NULL);
    else if (strcmp(kind, "context") == 0)
        change_contexts();
    else if (strncmp(kind, "address", 7) == 0)
        ask_for_address(strchr(kind, '+') != NULL);
    else if (strncmp(kind, "cuda", 4) == 0)
        copy_by_cuda(strchr(kind, '+') != NULL);
    else if (strcmp(kind, "filter") == 0)
        refuse_calls(SYS_mprotect);
    else if (strcmp(kind, "filter+") == 0)
        refuse_calls(SYS_close); /* another call */
    else if (strcmp(kind, "copies") == 0)
        refuse_calls(SYS_pwritev);
    else if (strcmp(kind, "mask") == 0)
        block_faults();
    else if (strncmp(kind, "inherit", 7) == 0)
        inherit_mask(strchr(kind, '+') != NULL);
    else if (strncmp(kind, "small", 5) == 0)
        leave_small_stack(strchr(kind, '+') ? 65536 : 2048);
    else if (strcmp(kind, "locked") == 0) {
        multiply();
        printf("mlockall %s\n", mlockall(MCL_CURRENT) == 0 ? "succeeds" : strerror(errno));
        multiply();
    }
    if (strncmp(kind, "ioctl", 5) != 0 && strcmp(kind, "string") != 0 && strncmp(kind, "coroutine", 9) != 0 &&
        strncmp(kind, "address", 7) != 0)
        say_values();
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
