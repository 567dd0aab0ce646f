/* Calls the functions of tests/complaints_library.c with wrong arguments.  local: opens the library as Python opens a
 * module; otherwise the library is preloaded. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    static const char *const names[] = {"bad_gemm", "bad_potrf", "complain"};
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : RTLD_DEFAULT;

    for (int i = 0; i < 3; i++) {
        void (*call)(void) = (void (*)(void))dlsym(library, names[i]);

        if (!call) {
            fprintf(stderr, "no %s: %s\n", names[i], dlerror());
            return 1;
        }
        call();
    }
    return 0;
}
/* SPDX-License-Identifier: BSD-2-Clause */
