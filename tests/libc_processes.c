/* A program for libc_state.t, which knows nothing of semcache. It uses stacks in its own memory, makes processes in
 * every way, frees blocks by libc's older names, and closes descriptors that it did not open.
 *
 *     libc_processes             prints the kinds
 *     libc_processes KIND        prints "KIND: ok" on success */
#define _GNU_SOURCE
#include "tests/libc_state.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

pid_t _Fork(void);
pid_t __fork(void);
int __clone(int (*body)(void *), void *stack, int flags, void *arg, ...);
void __libc_free(void *p);
void *__libc_malloc(size_t bytes);
void *__libc_realloc(void *p, size_t bytes);

/* --- stacks ------------------------------------------------------------------------------------------------------- */

/* Arrays on a stack: the results and the memory around them stay as they are. */
static int on_this_stack(int first)
{
    double in[N * N], out[N * N];
    int bad = 0;

    for (int i = 0; i < 3; i++) {
        fill(in, first + i);
        multiply_into(out, in);
        multiply_into(out, in);
        bad += differ(out, first + i);
    }
    return bad;
}

static void *stack_body(void *argument) { return (void *)(intptr_t)on_this_stack((int)(intptr_t)argument); }

static int by_setstack(void)
{
    pthread_attr_t attr;
    void *stack = malloc(STACK);
    int bad = 0;

    multiply_into(stack, a); /* the memory is on a device when it becomes a stack */
    pthread_attr_init(&attr);
    for (int i = 0; i < 3; i++)
        bad += pthread_attr_setstack(&attr, stack, STACK) || run_thread(&attr, stack_body, (void *)5);
    free(stack);
    return bad;
}

/* By dlsym, since linking with this function gives a warning. */
static int by_setstackaddr(void)
{
    int (*set)(pthread_attr_t *, void *) =
        (int (*)(pthread_attr_t *, void *))(uintptr_t)dlsym(RTLD_DEFAULT, "pthread_attr_setstackaddr");
    char *stack = malloc(STACK);
    pthread_attr_t attr;

    if (!set)
        return 0;
    pthread_attr_init(&attr);
    return pthread_attr_setstacksize(&attr, STACK) || set(&attr, stack + STACK) ||
           run_thread(&attr, stack_body, (void *)6);
}

/* A coroutine keeps arrays on its stack; main calls the BLAS on the arrays while the coroutine is suspended. */
static double *kept_in, *kept_out;
static int kept_bad;
static void keeps(int first, int second, int third, int fourth, int fifth, int sixth, int seventh)
{
    double in[N * N], out[N * N];

    kept_bad = second != 2 || third != 3 || fourth != 4 || fifth != 5 || sixth != 6 || seventh != 7;
    kept_in = in;
    kept_out = out;
    fill(in, first);
    for (int i = 0; i < 4; i++) {
        swapcontext(&other_context, &main_context);
        kept_bad += differ(out, first);
    }
    swapcontext(&other_context, &main_context);
}

static int coroutine(char *stack)
{
    getcontext(&other_context);
    other_context.uc_stack.ss_sp = stack;
    other_context.uc_stack.ss_size = STACK;
    makecontext(&other_context, (void (*)(void))keeps, 7, 11, 2, 3, 4, 5, 6, 7);
    swapcontext(&main_context, &other_context);
    for (int i = 0; i < 4; i++) {
        multiply_into(kept_out, kept_in);
        swapcontext(&main_context, &other_context);
    }
    return kept_bad;
}

static int by_makecontext(void)
{
    char *stack = malloc(STACK);

    multiply_into((double *)(void *)(stack + STACK - BYTES), a);
    return coroutine(stack);
}

static char static_stack[2 * STACK] __attribute__((aligned(4096)));
static int static_coroutine(void)
{
    char *stack = static_stack + 4096;
    int bad = 0;

    fill((double *)(void *)(stack + STACK - BYTES), 9);
    for (int i = 0; i < 4; i++) {
        multiply_into(c, (const double *)(void *)(stack + STACK - BYTES));
        bad += differ(c, 9);
    }
    bad += coroutine(stack);
    multiply();
    return bad;
}

/* A coroutine by a switch of the stack pointer, unknown to libc. */
static int tellnobody_bad = -1;
static void __attribute__((noinline, used)) on_other_stack(void) { tellnobody_bad = on_this_stack(21); }

static int tells_nobody(void)
{
    char *stack = malloc(STACK);
    double *top = (double *)(void *)(stack + STACK - BYTES);
    int bad = 0;

    for (int i = 0; i < 3; i++) {
        __asm__ volatile("movq %%rsp, %%rbx\n    movq %0, %%rsp\n    call on_other_stack\n    movq %%rbx, %%rsp"
                         :
                         : "r"(stack + STACK)
                         : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
        bad += tellnobody_bad;
        multiply_into(top, a); /* where the next coroutine's stack lies */
        multiply_into(top, a);
    }
    return bad;
}

static int alarm_stack(double *out)
{
    struct sigaction action = {.sa_handler = look, .sa_flags = SA_ONSTACK};
    int bad = 0;

    sigaction(SIGALRM, &action, NULL);
    for (int i = 0; i < 3; i++) {
        fill(a, 1000);
        multiply();
        found = -1;
        multiply_into(out, a); /* the signal stack lies in the array of the result */
        raise(SIGALRM);
        bad += found != 0;
    }
    return bad;
}

static int by_sigaltstack(void)
{
    char *block = malloc(STACK);
    stack_t stack = {.ss_sp = block + BYTES, .ss_size = STACK - BYTES};

    multiply_into((double *)(void *)(block + BYTES), a);
    return sigaltstack(&stack, NULL) || alarm_stack((double *)(void *)(block + STACK - BYTES));
}

/* --- processes ---------------------------------------------------------------------------------------------------- */

/* The child checks the parent's values and computes a product. */
static int in_child(void *none)
{
    double *out = malloc(BYTES);
    int bad;

    (void)none;
    alarm(60);
    bad = wrong();
    multiply_into(out, a);
    bad += differ(out, 1000);
    free(out);
    return bad != 0;
}

static int ends_well(pid_t child)
{
    int status = -1;

    return child < 0 || waitpid(child, &status, 0) != child || status != 0 || wrong();
}

static int by__Fork(void)
{
    pid_t child = _Fork();

    if (child == 0)
        _exit(in_child(NULL));
    return ends_well(child);
}

static int by___fork(void)
{
    pid_t child = __fork();

    if (child == 0)
        _exit(in_child(NULL));
    return ends_well(child);
}

static int by_vfork(void)
{
    pid_t child = vfork();

    if (child == 0)
        _exit(c[77] != 2 * 1077.0);
    return ends_well(child);
}

static int by_clone(void) { return ends_well(clone(in_child, (char *)malloc(STACK) + STACK, SIGCHLD, NULL)); }
static int by___clone(void) { return ends_well(__clone(in_child, (char *)malloc(STACK) + STACK, SIGCHLD, NULL)); }

static int looks_there(void *none)
{
    (void)none;
    return wrong();
}

/* A device has written the memory of the child's stack. */
static int by_clone_vm(void)
{
    char *stack = malloc(STACK);

    multiply_into((double *)(void *)(stack + STACK - BYTES), a);
    return ends_well(clone(looks_there, stack + STACK, CLONE_VM | SIGCHLD, NULL));
}

static int by_syscall(void)
{
    long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

    if (child == 0)
        _exit(in_child(NULL));
    return ends_well((pid_t)child);
}

static pid_t past_libc(void)
{
    long result = SYS_fork;

    __asm__ volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
    return (pid_t)result;
}

/* A child by a system call instruction, without fork handlers. Arrays that were at home are readable. An access to
 * other arrays ends the child; wrong numbers never appear. */
static int by_instruction(void)
{
    double *in = malloc(BYTES), *out = malloc(BYTES);
    pid_t child;
    int status = 0;

    fill(in, 5);
    if (getenv("SEMCACHE_TEST_DEVICE"))
        sleep(2); /* the threads that submit operations have left the driver, whose locks the child could never take */
    if ((child = past_libc()) == 0) {
        multiply_into(out, in);
        exit(differ(out, 5) != 0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        return 1;
    if ((child = past_libc()) == 0)
        _exit(c[77] != 2 * 1077.0);
    return waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV;
}

/* --- the heap ----------------------------------------------------------------------------------------------------- */

static int by___libc_free(void)
{
    double *out = malloc(BYTES);

    multiply_into(out, a);
    __libc_free(out);
    __libc_free(__libc_malloc(100));
    __libc_free(NULL);
    return 0;
}

static int by___libc_realloc(void)
{
    double *out = malloc(BYTES), *more;
    int bad;

    multiply_into(out, a);
    more = __libc_realloc(out, 3 * BYTES);
    bad = differ(more, 1000);
    free(more);
    more = __libc_realloc(__libc_realloc(NULL, 50), 100);
    free(more);
    return bad;
}

/* By dlsym, since programs cannot link with cfree any more. */
static int by_cfree(void)
{
    void (*old)(void *) = (void (*)(void *))(uintptr_t)dlsym(RTLD_DEFAULT, "cfree");
    double *out = malloc(BYTES);

    multiply_into(out, a);
    if (old)
        old(out);
    return 0;
}

/* --- descriptors -------------------------------------------------------------------------------------------------- */

static double fixed_in[N * N], fixed_out[N * N]; /* watched */

/* After the library's descriptors were closed: opens a file under their numbers. The library must not write to the
 * file. */
static int after_closing(void)
{
    char name[] = "/tmp/libc_state.XXXXXX";
    int file = mkstemp(name), bad, fds[600];

    unlink(name);
    for (int i = 0; i < 600; i++)
        fds[i] = dup(file);
    multiply();
    fixed_in[5]++;
    multiply_into(fixed_out, fixed_in);
    fixed_in[5]--;
    multiply_into(fixed_out, fixed_in);
    bad = wrong() + differ(fixed_out, 3) + (lseek(file, 0, SEEK_END) != 0);
    for (int i = 0; i < 600; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    close(file);
    return bad;
}

static int watched(void)
{
    fill(fixed_in, 3);
    for (int i = 0; i < 3; i++)
        multiply_into(fixed_out, fixed_in);
    return differ(fixed_out, 3);
}

static int by_close(void)
{
    int bad = watched();

    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    return bad + after_closing();
}

static int by_closefrom(void)
{
    int bad = watched();

    closefrom(3);
    return bad + after_closing();
}

static int by_close_range(void)
{
    int bad = watched() || close_range(3, ~0u, 0);

    return bad + after_closing();
}

/* The program registers its own userfaultfd on a watched array. */
static int by_userfaultfd(void)
{
    double *in = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct uffdio_register what = {.range = {(uintptr_t)in, BYTES}, .mode = UFFDIO_REGISTER_MODE_MISSING};
    struct uffdio_api api = {.api = UFFD_API};
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* UFFD_USER_MODE_ONLY */), bad = 0;

    fill(in, 9);
    for (int i = 0; i < 4; i++) {
        multiply_into(c, in);
        bad += differ(c, 9);
    }
    if (fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0 && ioctl(fd, UFFDIO_REGISTER, &what))
        bad++;
    for (int i = 0; i < 2; i++) {
        in[77]++;
        multiply_into(c, in);
        bad += c[77] != 2 * (9 + 78 + i);
    }
    close(fd);
    munmap(in, BYTES);
    multiply();
    return bad;
}

static const struct kind kinds[] = {
    {"pthread_attr_setstack", by_setstack}, {"pthread_attr_setstackaddr", by_setstackaddr},
    {"makecontext", by_makecontext}, {"static coroutine", static_coroutine}, {"unknown coroutine", tells_nobody},
    {"sigaltstack", by_sigaltstack}, {"_Fork", by__Fork}, {"__fork", by___fork}, {"vfork", by_vfork},
    {"clone", by_clone}, {"__clone", by___clone}, {"clone, same memory", by_clone_vm}, {"syscall", by_syscall},
    {"past libc", by_instruction},
    {"__libc_free", by___libc_free}, {"__libc_realloc", by___libc_realloc}, {"cfree", by_cfree}, {"close", by_close},
    {"closefrom", by_closefrom}, {"close_range", by_close_range}, {"userfaultfd", by_userfaultfd},
};

int main(int argc, char **argv)
{
    return run_named(kinds, sizeof kinds / sizeof *kinds, argc > 1 ? argv[1] : NULL);
}
/* SPDX-License-Identifier: BSD-2-Clause */
