# Tests of trace
