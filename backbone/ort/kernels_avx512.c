// The kernels compiled for x86 processors with AVX-512.

#include "kernels_choice.h"

#ifdef WINNOW_X86
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")
#define LANES 16
#define SET winnow_avx512
#include "kernels_set.h"
#endif
