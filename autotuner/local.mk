# autotuner
libcore_la_SOURCES += autotuner/autotuner.h autotuner/predict.c autotuner/decide.c
EXTRA_DIST += autotuner/README.md
