#include "base/inside.h"

__thread int sc_inside_depth __attribute__((tls_model("initial-exec")));
