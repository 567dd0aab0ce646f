/* OpenBLAS's additions to the BLAS, for programs for which this library takes the place of OpenBLAS.  A call goes
 * on, with registers and stack unchanged, to the definition that the program would have used without this library,
 * else to the host BLAS's definition.  Without both, the library logs a line and returns zero.  Operands come home
 * by faults.
 *
 * Names that a Fortran library may use for a COMMON block (dsum_, dmax_...) are left out.  Under a preload the
 * Fortran library would be bound to this library's function. */
#include "base/forward.h"
#include "base/log.h"
#include "blas/blas_int.h"

/* name, number */
#define CBLAS_NAMES(M)                                                                                                \
    M(cblas_cdotc, 0) M(cblas_cdotu, 1) M(cblas_zdotc, 2) M(cblas_zdotu, 3) M(cblas_sgeadd, 4) M(cblas_dgeadd, 5)     \
    M(cblas_cgeadd, 6) M(cblas_zgeadd, 7) M(cblas_simatcopy, 8) M(cblas_dimatcopy, 9) M(cblas_cimatcopy, 10)          \
    M(cblas_zimatcopy, 11) M(cblas_somatcopy, 12) M(cblas_domatcopy, 13) M(cblas_comatcopy, 14)                       \
    M(cblas_zomatcopy, 15) M(cblas_ssum, 16) M(cblas_dsum, 17) M(cblas_scsum, 18) M(cblas_dzsum, 19)                  \
    M(cblas_ismax, 20) M(cblas_idmax, 21) M(cblas_icmax, 22) M(cblas_izmax, 23) M(cblas_ismin, 24)                    \
    M(cblas_idmin, 25) M(cblas_icmin, 26) M(cblas_izmin, 27)
#define FORTRAN_NAMES(M)                                                                                              \
    M(sgeadd_, 28) M(dgeadd_, 29) M(cgeadd_, 30) M(zgeadd_, 31) M(simatcopy_, 32) M(dimatcopy_, 33)                   \
    M(cimatcopy_, 34) M(zimatcopy_, 35) M(somatcopy_, 36) M(domatcopy_, 37) M(comatcopy_, 38) M(zomatcopy_, 39)       \
    M(caxpyc_, 40) M(zaxpyc_, 41) M(csbmv_, 42) M(zsbmv_, 43) M(csyr2_, 44) M(zsyr2_, 45) M(cspr2_, 46)               \
    M(zspr2_, 47)
#define THREAD_NAMES(M)                                                                                               \
    M(openblas_set_num_threads, 48) M(openblas_get_num_threads, 49) M(openblas_get_num_procs, 50)                     \
    M(openblas_get_config, 51) M(openblas_get_corename, 52) M(openblas_get_parallel, 53)                              \
    M(openblas_set_num_threads_, 54) M(goto_set_num_threads, 55)
#define NAMES(M) CBLAS_NAMES(M) FORTRAN_NAMES(M) THREAD_NAMES(M)

#define NAME(name, number) [number] = #name,
static const char *const names[] = {NAMES(NAME)};
_Static_assert(sizeof names / sizeof *names <= SC_BLAS_OTHER_BATCH, "each has a place in what is remembered");

static int nothing(void) { return 0; }

/* Called from assembler: the address at which a call from `caller` continues. */
__attribute__((used)) static sc_blas_fn openblas_routine(unsigned which, const void *caller)
{
    static uint8_t said[SC_BLAS_OTHER_NAMES];
    sc_blas_fn fn;

    sc_blas_called_from(caller);
    fn = sc_blas_other_of_program((int)which, names[which]);
    if (fn)
        return fn;
    if (!__atomic_exchange_n(&said[which], 1, __ATOMIC_RELAXED))
        sc_log(SC_LOG_ERROR, "%s was called, which no BLAS of this process has: set SEMCACHE_HOST_BLAS to an OpenBLAS",
               names[which]);
    return (sc_blas_fn)nothing;
}

__asm__(SC_FORWARD("openblas_forward", "openblas_routine"));

#if defined __CET__ && __CET__ & 1
#define ENTRY "    endbr64\n"
#else
#define ENTRY ""
#endif
#define FORWARD(name, number)                                                                                         \
    __asm__(".globl " #name "\n"                                                                                      \
            ".type " #name ", @function\n" #name ":\n" ENTRY "    movl $" #number ", %r11d\n"                         \
            "    jmp openblas_forward\n"                                                                              \
            ".size " #name ", .-" #name "\n");
NAMES(FORWARD)
/* SPDX-License-Identifier: BSD-2-Clause */
