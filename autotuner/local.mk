# autotuner
