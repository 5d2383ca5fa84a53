// cuBLAS without a GPU: products of float32 by loops, column-major as there. See cudart.c.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
int cublasCreate_v2(void **h) { *h = malloc(64); return 0; }
int cublasDestroy_v2(void *h) { free(h); return 0; }
int cublasSetStream_v2(void *h, void *s) { return 0; }
int cublasSetMathMode(void *h, int m) { return 0; }
int cublasGetMathMode(void *h, int *m) { *m = 0; return 0; }
const char *cublasGetStatusName(int s) { return s == 3 ? "CUBLAS_STATUS_ALLOC_FAILED" : "CUBLAS_STATUS_OTHER"; }
const char *cublasGetStatusString(int s) { return "a status"; }
static int gemm(int ta, int tb, int m, int n, int k, float al, const float *A, int lda, const float *B, int ldb, float be, float *C, int ldc) {
	for (int j = 0; j < n; j++) for (int i = 0; i < m; i++) {
		float s = 0;
		for (int l = 0; l < k; l++) s += (ta ? A[l + (size_t)i * lda] : A[i + (size_t)l * lda]) * (tb ? B[j + (size_t)l * ldb] : B[l + (size_t)j * ldb]);
		float *c = &C[i + (size_t)j * ldc];
		*c = al * s + (be != 0 ? be * *c : 0);
	}
	return 0;
}
int cublasSgemm_v2(void *h, int ta, int tb, int m, int n, int k, const float *al, const float *A, int lda, const float *B, int ldb, const float *be, float *C, int ldc) { return gemm(ta, tb, m, n, k, *al, A, lda, B, ldb, *be, C, ldc); }
int cublasGemmEx(void *h, int ta, int tb, int m, int n, int k, const void *al, const void *A, int at, int lda, const void *B, int bt, int ldb, const void *be, void *C, int ct, int ldc, int comp, int algo) {
	if (at || bt || ct) return 15;
	return gemm(ta, tb, m, n, k, *(const float *)al, A, lda, B, ldb, *(const float *)be, C, ldc);
}
int cublasSgemmStridedBatched(void *h, int ta, int tb, int m, int n, int k, const float *al, const float *A, int lda, long long sa, const float *B, int ldb, long long sb, const float *be, float *C, int ldc, long long sc, int c) {
	for (int i = 0; i < c; i++) gemm(ta, tb, m, n, k, *al, A + i * sa, lda, B + i * sb, ldb, *be, C + i * sc, ldc);
	return 0;
}
