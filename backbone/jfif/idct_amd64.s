#include "textflag.h"

// The transforms of idct.go and scaled.go with a row of eight 32-bit numbers in a register. They compute the same sums
// modulo 2³², and therefore the same bits, also for damaged data. X0 … X7 of a macro are its inputs and then its
// outputs.

#define EIGHTFOLD(name, v) \
	DATA name<>+0(SB)/4, $v  \
	DATA name<>+4(SB)/4, $v  \
	DATA name<>+8(SB)/4, $v  \
	DATA name<>+12(SB)/4, $v \
	DATA name<>+16(SB)/4, $v \
	DATA name<>+20(SB)/4, $v \
	DATA name<>+24(SB)/4, $v \
	DATA name<>+28(SB)/4, $v \
	GLOBL name<>(SB), RODATA|NOPTR, $32

// The constants of idct.go.
EIGHTFOLD(c6, 4433)
EIGHTFOLD(c2MinusC6, 6270)
EIGHTFOLD(c2PlusC6, 15137)
EIGHTFOLD(c3, 9633)
EIGHTFOLD(c3MinusC7, 7373)
EIGHTFOLD(c3PlusC1, 20995)
EIGHTFOLD(c5PlusC3, 16069)
EIGHTFOLD(c3MinusC5, 3196)
EIGHTFOLD(sumOf7, 2446)
EIGHTFOLD(sumOf5, 16819)
EIGHTFOLD(sumOf3, 25172)
EIGHTFOLD(sumOf1, 12299)
EIGHTFOLD(columnHalf, 0x400)   // half of 1<<11
EIGHTFOLD(rowHalf, 0x20000)    // half of 1<<18

// The constants of scaled.go.
EIGHTFOLD(fourC1of1, 20995)
EIGHTFOLD(fourC1of3, 7373)
EIGHTFOLD(fourC1of5, 4926)
EIGHTFOLD(fourC1of7, 4176)
EIGHTFOLD(fourC3of1, 8697)
EIGHTFOLD(fourC3of3, 17799)
EIGHTFOLD(fourC3of5, 11893)
EIGHTFOLD(fourC3of7, 1730)
EIGHTFOLD(fourEven2, 15137)
EIGHTFOLD(fourEven6, 6270)
EIGHTFOLD(fourColumnHalf, 0x800) // half of 1<<12
EIGHTFOLD(fourRowHalf, 0x40000)  // half of 1<<19

EIGHTFOLD(words128, 0x00800080) // 128 in each half

// Converts four bytes of four columns to four rows.
DATA fourByFour<>+0(SB)/8, $0x0d0905010c080400
DATA fourByFour<>+8(SB)/8, $0x0f0b07030e0a0602
DATA fourByFour<>+16(SB)/8, $0x0d0905010c080400
DATA fourByFour<>+24(SB)/8, $0x0f0b07030e0a0602
GLOBL fourByFour<>(SB), RODATA|NOPTR, $32

// EIGHT is the function transformEight, followed by the shift.
#define EIGHT(X0, X1, X2, X3, X4, X5, X6, X7, A, B, C, D, E, F, G, H, half, shift) \
	VPADDD  X6, X2, A           \
	VPMULLD c6<>(SB), A, A      \
	VPMULLD c2PlusC6<>(SB), X6, X6 \
	VPMULLD c2MinusC6<>(SB), X2, X2 \
	VPSUBD  X6, A, X6           \ // t2
	VPADDD  X2, A, X2           \ // t3
	VPADDD  X4, X0, A           \
	VPSUBD  X4, X0, B           \
	VPSLLD  $13, A, A           \
	VPSLLD  $13, B, B           \
	VPADDD  half<>(SB), A, A    \ // t0
	VPADDD  half<>(SB), B, B    \ // t1
	VPADDD  X2, A, X0           \ // e0
	VPSUBD  X2, A, A            \ // e3
	VPADDD  X6, B, X4           \ // e1
	VPSUBD  X6, B, B            \ // e2
	VPADDD  X7, X3, C           \
	VPADDD  X5, X1, D           \
	VPADDD  X7, X1, E           \
	VPADDD  X5, X3, F           \
	VPADDD  C, D, G             \
	VPMULLD c3<>(SB), G, G      \ // z5
	VPMULLD c5PlusC3<>(SB), C, C \
	VPMULLD c3MinusC5<>(SB), D, D \
	VPMULLD c3MinusC7<>(SB), E, E \ // z1
	VPMULLD c3PlusC1<>(SB), F, F \ // z2
	VPSUBD  C, G, C             \ // z3
	VPSUBD  D, G, D             \ // z4
	VPMULLD sumOf1<>(SB), X1, X1 \
	VPMULLD sumOf3<>(SB), X3, X3 \
	VPMULLD sumOf5<>(SB), X5, X5 \
	VPMULLD sumOf7<>(SB), X7, X7 \
	VPSUBD  E, X1, X1           \
	VPSUBD  F, X3, X3           \
	VPSUBD  F, X5, X5           \
	VPSUBD  E, X7, X7           \
	VPADDD  D, X1, X1           \ // o0
	VPADDD  C, X3, X3           \ // o1
	VPADDD  D, X5, X5           \ // o2
	VPADDD  C, X7, X7           \ // o3
	VPSUBD  X1, X0, H           \
	VPADDD  X1, X0, X0          \
	VPSUBD  X3, X4, X6          \
	VPADDD  X3, X4, X1          \
	VPADDD  X5, B, X2           \
	VPSUBD  X5, B, X5           \
	VPADDD  X7, A, X3           \
	VPSUBD  X7, A, X4           \
	VPSRAD  $shift, X0, X0      \
	VPSRAD  $shift, X1, X1      \
	VPSRAD  $shift, X2, X2      \
	VPSRAD  $shift, X3, X3      \
	VPSRAD  $shift, X4, X4      \
	VPSRAD  $shift, X5, X5      \
	VPSRAD  $shift, X6, X6      \
	VPSRAD  $shift, H, X7

// ROW reads a row of coefficients and multiplies them by their quantisers.
#define ROW(y, to) \
	VPMOVSXWD (16*y)(SI), to \
	VPMULLD   (32*y)(DX), to, to

// func idctAVX2(dst *byte, stride int, coefs *[64]int16, quant *[64]int32)
TEXT ·idctAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), CX
	MOVQ coefs+16(FP), SI
	MOVQ quant+24(FP), DX
	ROW(0, Y0)
	ROW(1, Y1)
	ROW(2, Y2)
	ROW(3, Y3)
	ROW(4, Y4)
	ROW(5, Y5)
	ROW(6, Y6)
	ROW(7, Y7)
	EIGHT(Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15, columnHalf, 11)

	// Transposes rows to columns.
	VPUNPCKLDQ  Y1, Y0, Y8
	VPUNPCKHDQ  Y1, Y0, Y9
	VPUNPCKLDQ  Y3, Y2, Y10
	VPUNPCKHDQ  Y3, Y2, Y11
	VPUNPCKLDQ  Y5, Y4, Y12
	VPUNPCKHDQ  Y5, Y4, Y13
	VPUNPCKLDQ  Y7, Y6, Y14
	VPUNPCKHDQ  Y7, Y6, Y15
	VPUNPCKLQDQ Y10, Y8, Y0
	VPUNPCKHQDQ Y10, Y8, Y1
	VPUNPCKLQDQ Y11, Y9, Y2
	VPUNPCKHQDQ Y11, Y9, Y3
	VPUNPCKLQDQ Y14, Y12, Y4
	VPUNPCKHQDQ Y14, Y12, Y5
	VPUNPCKLQDQ Y15, Y13, Y6
	VPUNPCKHQDQ Y15, Y13, Y7
	VPERM2I128  $0x20, Y4, Y0, Y8
	VPERM2I128  $0x20, Y5, Y1, Y9
	VPERM2I128  $0x20, Y6, Y2, Y10
	VPERM2I128  $0x20, Y7, Y3, Y11
	VPERM2I128  $0x31, Y4, Y0, Y12
	VPERM2I128  $0x31, Y5, Y1, Y13
	VPERM2I128  $0x31, Y6, Y2, Y14
	VPERM2I128  $0x31, Y7, Y3, Y15
	EIGHT(Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15, Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, rowHalf, 18)

	// Converts to bytes, and columns to rows: 0 … 3 and 4 … 7 in the halves.
	VMOVDQU    words128<>(SB), Y0
	VMOVDQU    fourByFour<>(SB), Y1
	VPACKSSDW  Y9, Y8, Y8
	VPACKSSDW  Y11, Y10, Y10
	VPACKSSDW  Y13, Y12, Y12
	VPACKSSDW  Y15, Y14, Y14
	VPADDW     Y0, Y8, Y8
	VPADDW     Y0, Y10, Y10
	VPADDW     Y0, Y12, Y12
	VPADDW     Y0, Y14, Y14
	VPACKUSWB  Y10, Y8, Y8
	VPACKUSWB  Y14, Y12, Y12
	VPSHUFB    Y1, Y8, Y8
	VPSHUFB    Y1, Y12, Y12
	VPUNPCKLDQ Y12, Y8, Y0       // rows 0, 1 and 4, 5
	VPUNPCKHDQ Y12, Y8, Y1       // rows 2, 3 and 6, 7
	LEAQ       (CX)(CX*2), AX
	LEAQ       (DI)(CX*4), BX
	VMOVQ      X0, (DI)
	VMOVHPS    X0, (DI)(CX*1)
	VMOVQ      X1, (DI)(CX*2)
	VMOVHPS    X1, (DI)(AX*1)
	VEXTRACTI128 $1, Y0, X0
	VEXTRACTI128 $1, Y1, X1
	VMOVQ      X0, (BX)
	VMOVHPS    X0, (BX)(CX*1)
	VMOVQ      X1, (BX)(CX*2)
	VMOVHPS    X1, (BX)(AX*1)
	VZEROUPPER
	RET

// FOUR is the function transformFour; the outputs are in X0, X2, X3 and X1.
#define FOUR(X0, X1, X2, X3, X5, X6, X7, A, B, C, half, shift) \
	VPSLLD  $14, X0, X0            \
	VPADDD  half<>(SB), X0, X0     \ // t0
	VPMULLD fourEven2<>(SB), X2, X2 \
	VPMULLD fourEven6<>(SB), X6, X6 \
	VPSUBD  X6, X2, X2             \ // t2
	VPADDD  X2, X0, X6             \ // t0 + t2
	VPSUBD  X2, X0, X0             \ // t0 - t2
	VPMULLD fourC1of1<>(SB), X1, A \
	VPMULLD fourC3of1<>(SB), X1, B \
	VPMULLD fourC1of3<>(SB), X3, C \
	VPMULLD fourC3of3<>(SB), X3, X3 \
	VPADDD  C, A, A                \
	VPSUBD  X3, B, B               \
	VPMULLD fourC1of5<>(SB), X5, C \
	VPMULLD fourC3of5<>(SB), X5, X5 \
	VPSUBD  C, A, A                \
	VPADDD  X5, B, B               \
	VPMULLD fourC1of7<>(SB), X7, C \
	VPMULLD fourC3of7<>(SB), X7, X7 \
	VPSUBD  C, A, A                \ // o0
	VPSUBD  X7, B, B               \ // o1
	VPADDD  B, X0, X2              \
	VPSUBD  B, X0, X3              \
	VPADDD  A, X6, X0              \
	VPSUBD  A, X6, X1              \
	VPSRAD  $shift, X0, X0         \
	VPSRAD  $shift, X1, X1         \
	VPSRAD  $shift, X2, X2         \
	VPSRAD  $shift, X3, X3

// func idct4AVX2(dst *byte, stride int, coefs *[64]int16, quant *[64]int32)
TEXT ·idct4AVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), CX
	MOVQ coefs+16(FP), SI
	MOVQ quant+24(FP), DX
	ROW(0, Y0)
	ROW(1, Y1)
	ROW(2, Y2)
	ROW(3, Y3)
	ROW(5, Y5)
	ROW(6, Y6)
	ROW(7, Y7)
	FOUR(Y0, Y1, Y2, Y3, Y5, Y6, Y7, Y8, Y9, Y10, fourColumnHalf, 12)

	// Transposes the rows Y0, Y2, Y3, Y1 to columns: 0 and 4, 1 and 5, 2 and 6, 3 and 7 in the halves. Column 4 is not
	// used.
	VPUNPCKLDQ  Y2, Y0, Y8
	VPUNPCKHDQ  Y2, Y0, Y9
	VPUNPCKLDQ  Y1, Y3, Y10
	VPUNPCKHDQ  Y1, Y3, Y11
	VPUNPCKLQDQ Y10, Y8, Y0
	VPUNPCKHQDQ Y10, Y8, Y1
	VPUNPCKLQDQ Y11, Y9, Y2
	VPUNPCKHQDQ Y11, Y9, Y3
	VEXTRACTI128 $1, Y1, X5
	VEXTRACTI128 $1, Y2, X6
	VEXTRACTI128 $1, Y3, X7
	FOUR(X0, X1, X2, X3, X5, X6, X7, X8, X9, X10, fourRowHalf, 19)

	VPACKSSDW X2, X0, X0
	VPACKSSDW X1, X3, X1
	VPADDW    words128<>(SB), X0, X0
	VPADDW    words128<>(SB), X1, X1
	VPACKUSWB X1, X0, X0
	VPSHUFB   fourByFour<>(SB), X0, X0
	LEAQ      (DI)(CX*2), BX
	VMOVD     X0, (DI)
	VPEXTRD   $1, X0, (DI)(CX*1)
	VPEXTRD   $2, X0, (BX)
	VPEXTRD   $3, X0, (BX)(CX*1)
	VZEROUPPER
	RET
