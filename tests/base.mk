# Tests of base, and of rules that all folders keep
dist_check_SCRIPTS += tests/layering.t tests/style.t tests/headers.t tests/listed.t tests/prose.t tests/glossary.t
TESTS += tests/layering.t tests/style.t tests/headers.t tests/listed.t tests/prose.t tests/glossary.t
