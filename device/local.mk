# device
include device/cuda/local.mk
