/* Without a host BLAS: one line names cause and remedy, once, and calls are computed by loops. */
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "tests/tap.h"
#include "tests/veneers_fake.h"

static int log_pipe[2];

/* The text written to stderr since the previous call. */
static const char *said(void)
{
    static char text[2000];
    ssize_t got;

    dprintf(STDERR_FILENO, "."); /* keeps read from waiting */
    got = read(log_pipe[0], text, sizeof text - 1);
    text[got > 0 ? got - 1 : 0] = 0;
    return text;
}
static int lines(const char *text)
{
    int count = 0;

    for (; *text; text++)
        count += *text == '\n';
    return count;
}

int main(void)
{
    static const char *const nowhere[] = {"/nowhere/libopenblas.so", NULL};
    double x[8] = {1, 2, 3};
    const char *text;

    if (pipe(log_pipe) || dup2(log_pipe[1], STDERR_FILENO) < 0)
        return 1;
    sc_blas_host_candidates = nowhere;
    tap_ok(sc_blas_host_open("/nowhere/libblas.so") != SC_OK, "a path that does not exist is refused");
    text = said();
    tap_ok(lines(text) == 1 && strstr(text, "/nowhere/libblas.so") && strstr(text, "SEMCACHE_HOST_BLAS"),
           "one line with the cause and the remedy");
    tap_ok(sc_blas_host_open("/nowhere/libblas.so") != SC_OK && !*said(), "said once");
    tap_ok(cblas_ddot(3, x, 1, x, 1) == 14 && cblas_ddot(3, x, 1, x, 1) == 14, "a call is computed by loops");
    text = said();
    tap_ok(lines(text) == 1 && strstr(text, "cblas_ddot"), "and says so once");
    tap_ok(!sc_blas_host_symbol("dgemm_") && !sc_blas_host_path(), "no symbols, no path");

    /* A library brought by the program, like that of a NumPy from PyPI. */
    tap_ok(cblas_dasum64_(3, x, 1) == 6, "64-bit integers likewise");
    said();
    if (tap_ok(dlopen("./tests/.libs/libbundled.so", RTLD_NOW | RTLD_LOCAL) != NULL, "a program's own library")) {
        tap_ok(cblas_ddot64_(3, x, 1, x, 1) == 14 && cblas_ddot64_(3, x, 1, x, 1) == 14 && !*said(),
               "does the calls that it has the name for");
        tap_ok(cblas_dasum64_(3, x, 1) == 6 && cblas_ddot(3, x, 1, x, 1) == 14, "other calls are computed as before");
    }
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
