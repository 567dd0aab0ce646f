# doc
nobase_dist_doc_DATA += doc/settings.md doc/statistics.md doc/trace-format.md doc/coherence-debugging.md
nobase_dist_doc_DATA += doc/deciding.md doc/decision-rules.md doc/install.md
nobase_dist_doc_DATA += doc/architecture.md doc/limits.md doc/locks.md
nobase_dist_doc_DATA += doc/extending.md doc/programs.md doc/verification.md
nobase_dist_doc_DATA += doc/tuning.md doc/tutorials.md doc/comparison.md
nobase_dist_doc_DATA += doc/sparse.md doc/tasks.md doc/cuda-um.md
nobase_dist_doc_DATA += doc/mpi.md doc/glossary.md doc/walk.md
nobase_dist_doc_DATA += doc/level3.md doc/level3.dat doc/level3.svg
nobase_dist_doc_DATA += doc/paper/README.md doc/paper/blasx.md doc/paper/xkblas.md doc/paper/paralia.md \
	doc/paper/paralia-uneven.md doc/paper/semcachepp.md doc/paper/proact.md \
	doc/paper/paralia.dat doc/paper/paralia.svg doc/paper/proact.svg doc/paper/xkblas.svg
dist_man_MANS += doc/semcache.7 doc/semcache-trace.5
# SPDX-License-Identifier: BSD-2-Clause
