// The kernels compiled for x86 processors with AVX2 and FMA.

#include "kernels_choice.h"

#ifdef WINNOW_X86
#pragma GCC target("avx2,fma")
#define LANES 8
#define SET winnow_avx2
#include "kernels_set.h"
#endif
