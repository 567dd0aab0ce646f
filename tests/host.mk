# Tests of host: memory half

# Tests of host: fault half
