// NVIDIA's own libraries, which the CUDA provider has loaded into the process: copies, page-locked memory, convolutions'
// gradients by cuDNN, and kernels of ours compiled on the device by NVRTC. They are found by name; nothing is linked.

#include <stddef.h>
#include <stdint.h>

// winnow_cuda loads CUDA's runtime. It returns NULL, or what is missing.
const char *winnow_cuda(void);

// These return 0, or CUDA's number of an error, which winnow_cuda_error names.
int winnow_cuda_copy(void *to, const void *from, size_t bytes);
int winnow_cuda_zero(void *at, size_t bytes);
int winnow_cuda_pin(void *at, size_t bytes);
int winnow_cuda_unpin(void *at);
const char *winnow_cuda_error(int e);
