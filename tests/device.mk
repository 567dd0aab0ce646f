# Tests of device
