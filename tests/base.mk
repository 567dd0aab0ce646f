# Tests of base
