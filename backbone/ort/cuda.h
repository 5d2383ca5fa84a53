// Functions of NVIDIA's libraries, which the CUDA provider has loaded into the process: copies, page-locked memory,
// gradients of convolutions by cuDNN, and winnow's own kernels, which NVRTC compiles on the machine. They are found by
// name; the program is not linked to these libraries.

#include <stddef.h>
#include <stdint.h>

// winnow_cuda loads the CUDA runtime. It returns NULL, or the name of what is missing.
const char *winnow_cuda(void);

// The functions below return 0, or CUDA's error number; winnow_cuda_error returns the text for a number.
int winnow_cuda_copy(void *to, const void *from, size_t bytes);
int winnow_cuda_zero(void *at, size_t bytes);
int winnow_cuda_pin(void *at, size_t bytes);
int winnow_cuda_unpin(void *at);
const char *winnow_cuda_error(int e);
