//go:build !amd64

package backbone

// Without AVX2 code for the platform, the Go functions do all the work.

func weighVector([]uint32, []byte, []byte, []byte, []byte, uint32, uint) int { return 0 }
func triangleVector([]uint32, []uint32, uint32, uint32) int                  { return 0 }
func toRGBVector([]byte, []byte, []uint32) int                               { return 0 }
func resampleRowVector([]byte, []byte, []byte, []byte, int, *taps) int       { return 0 }
func resampleColumnsVector([]int32, *[group][]byte, *[group]int32, bool) int { return 0 }
