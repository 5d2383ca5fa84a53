package architecture

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// initializer draws the weights of a convolution or linear layer around 0. in is the number of values that one
// output reads, out the number that one input feeds (for a convolution: channels of its group × positions of the
// kernel):
//
//	he_normal       N(0, 2/in)             He et al., "Delving Deep into Rectifiers", ICCV 2015, Eq. 10
//	he_uniform      U(±√(6/in))            the same variance
//	xavier_normal   N(0, 2/(in+out))       Glorot and Bengio, AISTATS 2010, Eq. 12
//	xavier_uniform  U(±√(6/(in+out)))      there, Eq. 16
//	lecun_uniform   U(±√(3/in))            what Caffe calls xavier
//	torch           U(±√(1/in))            torch's default; its biases too, all others' are 0
//
// torch counts the outputs of all groups; here Xavier's are counted per group.
type initializer struct {
	deviation func(in, out float64) float64
	normal    bool
	bias      bool // biases are drawn as well
}

const defaultInit = "he_normal"

func listInitializers() map[string]initializer {
	he := func(in, _ float64) float64 { return math.Sqrt(2 / in) }
	xavier := func(in, out float64) float64 { return math.Sqrt(2 / (in + out)) }
	return map[string]initializer{
		"he_normal": {deviation: he, normal: true}, "he_uniform": {deviation: he},
		"xavier_normal": {deviation: xavier, normal: true}, "xavier_uniform": {deviation: xavier},
		"lecun_uniform": {deviation: func(in, _ float64) float64 { return math.Sqrt(1 / in) }},
		"torch":         {deviation: func(in, _ float64) float64 { return math.Sqrt(1 / (3 * in)) }, bias: true},
	}
}

// readInit returns the initialiser that the key init names.
func readInit(s *section, otherwise initializer) initializer {
	name := s.readTextLine("init", "")
	if name == "" {
		return otherwise
	}
	all := listInitializers()
	chosen, ok := all[name]
	if !ok {
		s.failSection(s.of["init"].kindMismatch("one of " + strings.Join(slices.Sorted(maps.Keys(all)), ", ")))
	}
	return chosen
}

// ownInit returns a layer's own initialiser, or nil if it uses the network's.
func ownInit(s *section) *initializer {
	if _, ok := s.of["init"]; !ok {
		return nil
	}
	own := readInit(s, initializer{})
	return &own
}

// weight is a tensor to be filled: with a constant, or randomly around 0 with a standard deviation.
type weight struct {
	name      string
	dims      []int64
	value     float32 // of every element if deviation is 0
	deviation float64
	normal    bool // else uniform
}

func (w weight) weightSize() int64 {
	n := int64(1)
	for _, d := range w.dims {
		n *= d
	}
	return n
}

// drawWeight returns the elements. The random source is a function of the seed and the tensor's name.
func (w weight) drawWeight(seed uint64) []float32 {
	data := make([]float32, w.weightSize())
	rng, bound := newSource(seed, w.name), w.deviation*math.Sqrt(3)
	for i := range data {
		switch {
		case w.deviation == 0:
			data[i] = w.value
		case w.normal:
			data[i] = float32(w.deviation * rng.NormFloat64())
		default:
			data[i] = float32(bound * (2*rng.Float64() - 1))
		}
	}
	return data
}

func newSource(seed uint64, purpose string) *rand.Rand {
	sum := sha256.Sum256(append(binary.LittleEndian.AppendUint64(nil, seed), purpose...))
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])))
}
