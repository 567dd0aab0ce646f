# Tests of directory
