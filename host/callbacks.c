#include "host/host_int.h"

const struct sc_host_callbacks *sc_host_callbacks;

void sc_host_callbacks_set(const struct sc_host_callbacks *callbacks)
{
    __atomic_store_n(&sc_host_callbacks, callbacks, __ATOMIC_RELEASE);
}
