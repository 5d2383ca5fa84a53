#include "textflag.h"

// The kernels of chroma.go and resample.go in AVX2. They compute the same integers as the Go functions.

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

// The factors of Cb (low half) and Cr (high half), times 2¹⁶. The whole multiples are added separately:
// R = Y + Cr + 0.402·Cr, G = Y - Cr - 0.34414·Cb + 0.28586·Cr, B = Y + 2·Cb - 0.228·Cb.
EIGHTFOLD(ofRed, 0x66e90000)     // 0, 26345
EIGHTFOLD(ofGreen, 0x492ea7e6)   // -22554, 18734
EIGHTFOLD(ofBlue, 0x0000c5a2)    // -14942, 0
EIGHTFOLD(half, 0x8000)
EIGHTFOLD(words128, 0x00800080)
EIGHTFOLD(halfWeight, 0x200000)  // half of 1<<22

// Shuffles the bytes R0-3 G0-3 B0-3 into pixels.
DATA pixels<>+0(SB)/8, $0x0602090501080400
DATA pixels<>+8(SB)/8, $0x808080800b07030a
DATA pixels<>+16(SB)/8, $0x0602090501080400
DATA pixels<>+24(SB)/8, $0x808080800b07030a
GLOBL pixels<>(SB), RODATA|NOPTR, $32

// Widens four pixels from bytes to 32 bits: first the first two, then the last two, with one pixel in each half.
DATA first2<>+0(SB)/8, $0x8080800180808000
DATA first2<>+8(SB)/8, $0x8080808080808002
DATA first2<>+16(SB)/8, $0x8080800480808003
DATA first2<>+24(SB)/8, $0x8080808080808005
GLOBL first2<>(SB), RODATA|NOPTR, $32
DATA last2<>+0(SB)/8, $0x8080800780808006
DATA last2<>+8(SB)/8, $0x8080808080808008
DATA last2<>+16(SB)/8, $0x8080800a80808009
DATA last2<>+24(SB)/8, $0x808080808080800b
GLOBL last2<>(SB), RODATA|NOPTR, $32

// Selects which of four weights applies to the pixels of these halves.
DATA weights2<>+0(SB)/8, $0x0000000000000000
DATA weights2<>+8(SB)/8, $0x0000000000000000
DATA weights2<>+16(SB)/8, $0x0000000100000001
DATA weights2<>+24(SB)/8, $0x0000000100000001
GLOBL weights2<>(SB), RODATA|NOPTR, $32
DATA weights4<>+0(SB)/8, $0x0000000200000002
DATA weights4<>+8(SB)/8, $0x0000000200000002
DATA weights4<>+16(SB)/8, $0x0000000300000003
DATA weights4<>+24(SB)/8, $0x0000000300000003
GLOBL weights4<>(SB), RODATA|NOPTR, $32

// func weighAVX2(t *uint32, nb, nr, fb, fr *byte, n int, bias uint32, shift uint)
TEXT ·weighAVX2(SB), NOSPLIT, $0-64
	MOVQ         t+0(FP), DI
	MOVQ         nb+8(FP), R8
	MOVQ         nr+16(FP), R9
	MOVQ         fb+24(FP), R10
	MOVQ         fr+32(FP), R11
	MOVQ         n+40(FP), CX
	MOVL         bias+48(FP), AX
	VMOVD        AX, X4
	VPBROADCASTD X4, Y4
	VMOVQ        shift+56(FP), X5
	XORQ         AX, AX

weighLoop:
	VMOVQ      (R8)(AX*1), X0
	VMOVQ      (R9)(AX*1), X1
	VMOVQ      (R10)(AX*1), X2
	VMOVQ      (R11)(AX*1), X3
	VPUNPCKLBW X1, X0, X0
	VPUNPCKLBW X3, X2, X2
	VPMOVZXBW  X0, Y0
	VPMOVZXBW  X2, Y2
	VPADDW     Y0, Y0, Y1
	VPADDW     Y2, Y0, Y0
	VPADDW     Y4, Y1, Y1
	VPADDW     Y1, Y0, Y0
	VPSRLW     X5, Y0, Y0
	VMOVDQU    Y0, (DI)(AX*4)
	ADDQ       $8, AX
	CMPQ       AX, CX
	JLT        weighLoop
	VZEROUPPER
	RET

// func triangleAVX2(uv, t *uint32, n int, even, odd uint32)
TEXT ·triangleAVX2(SB), NOSPLIT, $0-32
	MOVQ         uv+0(FP), DI
	MOVQ         t+8(FP), SI
	MOVQ         n+16(FP), CX
	MOVL         even+24(FP), AX
	VMOVD        AX, X4
	VPBROADCASTD X4, Y4
	MOVL         odd+28(FP), AX
	VMOVD        AX, X5
	VPBROADCASTD X5, Y5

triangleLoop:
	VMOVDQU    4(SI), Y0
	VPADDW     Y0, Y0, Y1
	VPADDW     Y1, Y0, Y0
	VPADDW     (SI), Y0, Y1
	VPADDW     8(SI), Y0, Y2
	VPADDW     Y4, Y1, Y1
	VPADDW     Y5, Y2, Y2
	VPSRLW     $4, Y1, Y1
	VPSRLW     $4, Y2, Y2
	VPUNPCKLDQ Y2, Y1, Y0
	VPUNPCKHDQ Y2, Y1, Y1
	VPERM2I128 $0x20, Y1, Y0, Y2
	VPERM2I128 $0x31, Y1, Y0, Y3
	VMOVDQU    Y2, (DI)
	VMOVDQU    Y3, 32(DI)
	ADDQ       $32, SI
	ADDQ       $64, DI
	SUBQ       $8, CX
	JGT        triangleLoop
	VZEROUPPER
	RET

// func toRGBAVX2(dst, luma *byte, uv *uint32, n int)
TEXT ·toRGBAVX2(SB), NOSPLIT, $0-32
	MOVQ    dst+0(FP), DI
	MOVQ    luma+8(FP), SI
	MOVQ    uv+16(FP), DX
	MOVQ    n+24(FP), CX
	VMOVDQU ofRed<>(SB), Y8
	VMOVDQU ofGreen<>(SB), Y9
	VMOVDQU ofBlue<>(SB), Y10
	VMOVDQU half<>(SB), Y11
	VMOVDQU words128<>(SB), Y12
	VMOVDQU pixels<>(SB), Y13

rgbLoop:
	VMOVDQU      (DX), Y0
	VPMOVZXBD    (SI), Y1        // Y
	VPSUBW       Y12, Y0, Y0
	VPMADDWD     Y8, Y0, Y2
	VPMADDWD     Y9, Y0, Y3
	VPMADDWD     Y10, Y0, Y4
	VPADDD       Y11, Y2, Y2
	VPADDD       Y11, Y3, Y3
	VPADDD       Y11, Y4, Y4
	VPSRAD       $16, Y2, Y2
	VPSRAD       $16, Y3, Y3
	VPSRAD       $16, Y4, Y4
	VPSRAD       $16, Y0, Y5     // Cr
	VPSLLD       $16, Y0, Y0
	VPSRAD       $15, Y0, Y0     // 2·Cb
	VPSUBD       Y5, Y1, Y6
	VPADDD       Y5, Y1, Y5
	VPADDD       Y0, Y1, Y0
	VPADDD       Y5, Y2, Y2      // R
	VPADDD       Y6, Y3, Y3      // G
	VPADDD       Y0, Y4, Y4      // B
	VPACKSSDW    Y3, Y2, Y2
	VPACKSSDW    Y4, Y4, Y4
	VPACKUSWB    Y4, Y2, Y2
	VPSHUFB      Y13, Y2, Y2
	VMOVDQU      X2, (DI)
	VEXTRACTI128 $1, Y2, X2
	VMOVDQU      X2, 12(DI)
	ADDQ         $32, DX
	ADDQ         $8, SI
	ADDQ         $24, DI
	SUBQ         $8, CX
	JGT          rgbLoop
	VZEROUPPER
	RET

// func resampleRowAVX2(red, green, blue, src *byte, from int, start *int, weights *int32, n, width int)
TEXT ·resampleRowAVX2(SB), NOSPLIT, $0-72
	MOVQ    red+0(FP), R8
	MOVQ    green+8(FP), R9
	MOVQ    blue+16(FP), R10
	MOVQ    src+24(FP), SI
	MOVQ    from+32(FP), R11
	MOVQ    start+40(FP), DX
	MOVQ    weights+48(FP), BX
	MOVQ    n+56(FP), CX
	MOVQ    width+64(FP), R12
	VMOVDQU first2<>(SB), Y8
	VMOVDQU last2<>(SB), Y9
	VMOVDQU weights2<>(SB), Y10
	VMOVDQU weights4<>(SB), Y11
	VMOVDQU halfWeight<>(SB), X12

outputLoop:
	MOVQ  (DX), DI
	SUBQ  R11, DI
	LEAQ  (DI)(DI*2), DI
	ADDQ  SI, DI
	MOVQ  R12, R13
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1

tapLoop:
	VBROADCASTI128 (DI), Y2
	VBROADCASTI128 (BX), Y3
	VPSHUFB        Y8, Y2, Y4
	VPSHUFB        Y9, Y2, Y5
	VPERMILPS      Y10, Y3, Y6
	VPERMILPS      Y11, Y3, Y7
	VPMULLD        Y6, Y4, Y4
	VPMULLD        Y7, Y5, Y5
	VPADDD         Y4, Y0, Y0
	VPADDD         Y5, Y1, Y1
	ADDQ           $12, DI
	ADDQ           $16, BX
	SUBQ           $4, R13
	JGT            tapLoop
	VPADDD         Y1, Y0, Y0
	VEXTRACTI128   $1, Y0, X1
	VPADDD         X12, X0, X0
	VPADDD         X1, X0, X0
	VPSRAD         $22, X0, X0
	VPACKSSDW      X0, X0, X0
	VPACKUSWB      X0, X0, X0
	VPEXTRB        $0, X0, (R8)
	VPEXTRB        $1, X0, (R9)
	VPEXTRB        $2, X0, (R10)
	INCQ           R8
	INCQ           R9
	INCQ           R10
	ADDQ           $8, DX
	DECQ           CX
	JNZ            outputLoop
	VZEROUPPER
	RET

// func resampleColumnsAVX2(sum *int32, a, b, c, d *byte, w *[group]int32, n int, begin bool)
TEXT ·resampleColumnsAVX2(SB), NOSPLIT, $0-57
	MOVQ         sum+0(FP), DI
	MOVQ         a+8(FP), R8
	MOVQ         b+16(FP), R9
	MOVQ         c+24(FP), R10
	MOVQ         d+32(FP), R11
	MOVQ         w+40(FP), DX
	MOVQ         n+48(FP), CX
	MOVBLZX      begin+56(FP), BX
	VPBROADCASTD 0(DX), Y8
	VPBROADCASTD 4(DX), Y9
	VPBROADCASTD 8(DX), Y10
	VPBROADCASTD 12(DX), Y11
	VMOVDQU      halfWeight<>(SB), Y4
	XORQ         AX, AX

columnLoop:
	TESTL     BX, BX
	JNZ       begun
	VMOVDQU   (DI)(AX*4), Y4
begun:
	VPMOVZXBD (R8)(AX*1), Y0
	VPMOVZXBD (R9)(AX*1), Y1
	VPMOVZXBD (R10)(AX*1), Y2
	VPMOVZXBD (R11)(AX*1), Y3
	VPMULLD   Y8, Y0, Y0
	VPMULLD   Y9, Y1, Y1
	VPMULLD   Y10, Y2, Y2
	VPMULLD   Y11, Y3, Y3
	VPADDD    Y1, Y0, Y0
	VPADDD    Y3, Y2, Y2
	VPADDD    Y4, Y0, Y0
	VPADDD    Y2, Y0, Y0
	VMOVDQU   Y0, (DI)(AX*4)
	ADDQ      $8, AX
	CMPQ      AX, CX
	JLT       columnLoop
	VZEROUPPER
	RET
