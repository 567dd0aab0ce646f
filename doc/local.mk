# doc
EXTRA_DIST += doc/settings.md doc/statistics.md doc/trace-format.md doc/coherence-debugging.md
EXTRA_DIST += doc/deciding.md doc/decision-rules.md doc/install.md
EXTRA_DIST += doc/architecture.md doc/limits.md doc/locks.md
EXTRA_DIST += doc/extending.md doc/programs.md doc/verification.md
EXTRA_DIST += doc/tuning.md
EXTRA_DIST += doc/sparse.md doc/cuda-um.md
EXTRA_DIST += doc/mpi.md doc/glossary.md
EXTRA_DIST += doc/paper/README.md doc/paper/blasx.md doc/paper/xkblas.md doc/paper/paralia.md \
	doc/paper/paralia-uneven.md doc/paper/semcachepp.md doc/paper/proact.md \
	doc/paper/paralia.dat doc/paper/paralia.svg doc/paper/proact.svg doc/paper/xkblas.svg
