# Tests of library
