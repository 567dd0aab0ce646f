/* What dsdot.cu and who launches it agree on. */
#ifndef SC_DEVICE_CUDA_DSDOT_KERNEL_H
#define SC_DEVICE_CUDA_DSDOT_KERNEL_H

enum {
    SC_CUDA_DSDOT_THREADS = 256,    /* of a block */
    SC_CUDA_DSDOT_BLOCKS_MOST = 1024
};

#endif
