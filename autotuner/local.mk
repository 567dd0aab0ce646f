# autotuner
libcore_la_SOURCES += autotuner/autotuner.h autotuner/machine.h autotuner/machine.c \
  autotuner/decide.h autotuner/decide.c autotuner/predict.c autotuner/opening.h autotuner/opening.c \
  autotuner/database.h autotuner/database.c autotuner/database_file.c autotuner/store.h autotuner/store.c \
  autotuner/sample.h autotuner/sample.c autotuner/measure.h autotuner/measure_int.h autotuner/measure.c \
  autotuner/joules.h autotuner/joules.c autotuner/measure_link.c autotuner/measure_exchange.c \
  autotuner/measure_kernel.c autotuner/linkmap.h autotuner/linkmap.c \
  autotuner/start.h autotuner/start.c autotuner/plan.h autotuner/plan.c autotuner/refine.c autotuner/load.h \
  autotuner/pipeline.h autotuner/pipeline.c \
  autotuner/schedule.h autotuner/schedule.c autotuner/strips.h autotuner/strips.c \
  autotuner/trials.h autotuner/trials.c autotuner/demand.h autotuner/demand.c \
  autotuner/host_rates.h autotuner/host_rates.c autotuner/policy.h autotuner/devices.c \
  autotuner/columns.h autotuner/columns.c \
  autotuner/explain.h autotuner/explain.c
EXTRA_DIST += autotuner/README.md
# SPDX-License-Identifier: BSD-2-Clause
