# Netlib's testers, as Debian ships them
EXTRA_DIST += tests/netlib.pl
dist_check_SCRIPTS += tests/netlib.t
TESTS += tests/netlib.t
LONG_TESTS += tests/netlib.t
