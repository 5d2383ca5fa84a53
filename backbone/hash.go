package backbone

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
)

// Hash is a perceptual hash of an image. The luminance is reduced to 32×32 cells and cosine-transformed; bit k is set
// if the k-th coefficient, in order of frequency, is above 0. Copies that were scaled or saved again differ in at most
// 10 of 128 bits, mirrored copies likewise after [Hash.Mirrored], copies cropped by 5 % at every edge in 10 to 50. Two
// different photographs differ in more than 28 bits, except for a few pairs among millions (experiments/audit). The
// zero value means unknown; images without content have it.
//
// Source: the idea is from Zauner, "Implementation and benchmarking of perceptual image hash functions", 2010.
// Zauner's hash has 64 bits and compares coefficients with their median.
type Hash [2]uint64

const (
	hashCells = 32
	hashWaves = 16 // more than the highest frequency among the lowest 128, in either direction
	// faint is the share of the image's deviation below which the sign of a coefficient is noise. Its bit is then 0,
	// or the bit of the strongest coefficient in odd if the coefficient is also in odd.
	faint = 0.002
)

// hashed lists the vertical and horizontal frequencies of the bits of a hash, in ascending order of their sum.
var hashed = func() (list [128][2]int) {
	n := 0
	for sum := 1; n < len(list); sum++ {
		for down := 0; down <= sum && n < len(list); down++ {
			list[n] = [2]int{down, sum - down}
			n++
		}
	}
	return list
}()

// odd marks the coefficients that change sign when the image is mirrored: cos(π(i+½)u/n) is odd about the middle if u
// is odd.
var odd = func() (h Hash) {
	for k, f := range hashed {
		if f[1]%2 == 1 {
			h[k/64] |= 1 << (k % 64)
		}
	}
	return h
}()

// waves holds cos(π(i+½)u/32) for each frequency u and cell i.
var waves = func() (w [hashWaves][hashCells]float64) {
	for u := range w {
		for i := range w[u] {
			w[u][i] = math.Cos(math.Pi * (float64(i) + 0.5) * float64(u) / hashCells)
		}
	}
	return w
}()

// Mirrored returns the hash of the image mirrored left to right.
func (h Hash) Mirrored() Hash { return Hash{h[0] ^ odd[0], h[1] ^ odd[1]} }

// Differ counts the bits in which two hashes differ.
func (h Hash) Differ(from Hash) int {
	return bits.OnesCount64(h[0]^from[0]) + bits.OnesCount64(h[1]^from[1])
}

// String formats a hash in the form that parseHash reads.
func (h Hash) String() string { return fmt.Sprintf("%016x%016x", h[0], h[1]) }

func parseHash(text string) (h Hash, err error) {
	if len(text) != 32 {
		return h, strconv.ErrSyntax
	}
	for i := range h {
		if h[i], err = strconv.ParseUint(text[16*i:16*i+16], 16, 64); err != nil {
			return Hash{}, err
		}
	}
	return h, nil
}

// hashLuminances returns the hash of the cells' luminances.
func (c *cells) hashLuminances() (h Hash) {
	cells := newPlane(c.w, c.h, func(i int) float64 { return float64(c.light[i]) }).sumPlaneCells(change{}, hashCells)
	var across [hashCells][hashWaves]float64
	for y := range across {
		for u := range across[y] {
			across[y][u] = correlateCells(cells[y*hashCells:][:hashCells], waves[u][:])
		}
	}
	var all [len(hashed)]float64
	square, strongest := 0.0, 0.0 // sums over coefficients that change sign by mirroring
	for k, f := range hashed {
		for y := range across {
			all[k] += across[y][f[1]] * waves[f[0]][y]
		}
		if square += all[k] * all[k]; f[1]%2 == 1 && math.Abs(all[k]) > math.Abs(strongest) {
			strongest = all[k]
		}
	}
	if square < 1 {
		return Hash{}
	}
	for k, f := range hashed {
		above := all[k] > 0
		if math.Abs(all[k]) < faint*math.Sqrt(square) {
			above = f[1]%2 == 1 && strongest > 0
		}
		if above {
			h[k/64] |= 1 << (k % 64)
		}
	}
	return h
}
