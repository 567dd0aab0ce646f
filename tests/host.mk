# Tests of host
