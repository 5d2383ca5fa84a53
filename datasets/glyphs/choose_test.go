package glyphs

import (
	"cmp"
	"flag"
	"fmt"
	"image"
	"image/draw"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/vector"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/runenames"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/datasets"
)

var update = flag.Bool("update", false, "choose the characters again and write characters.txt")

// The largest allowed similarity of two characters of the table: the cosine of their blurred images, both fitted to
// the same box. E and F have 0.96, B and 8 0.95, P and p 0.96; È and É, c and C, З and 3 have more than 0.98.
const (
	alikeInOneFont = 0.97
	alikeAnywhere  = 0.985
)

// wanted is the number of classes of each split; the remaining candidates train glyphnet.
var wanted = []struct {
	split string
	n     int
}{{datasets.Train, 120}, {datasets.Validation, 40}, {datasets.Test, 80}}

// candidate is a character with its image in every face that has it.
type candidate struct {
	char     rune
	families int
	slim     bool // in some face, a stroke of the clutter would look like it
	faces    []int
	pictures blas32.General // faces×(box·box), unit rows
}

const box = 20

// describe returns a glyph fitted into 16 of 20 pixels and blurred once, as a unit vector: similar glyphs have a
// high cosine.
func describe(dst []float32, o outline) {
	z := vector.NewRasterizer(box, box)
	z.DrawOp = draw.Src
	o.drawOutline(z, newPlacement(16*subpixel, 0, 0, 1<<16, box/2*subpixel, box/2*subpixel))
	m := image.NewAlpha(image.Rect(0, 0, box, box))
	z.Draw(m, m.Bounds(), image.Opaque, image.Point{})
	weight := [3]float32{1, 2, 1}
	var sum float64
	for y := 1; y < box-1; y++ {
		for x := 1; x < box-1; x++ {
			var s float32
			for j, wy := range weight {
				for i, wx := range weight {
					s += wy * wx * float32(m.Pix[(y+j-1)*m.Stride+x+i-1])
				}
			}
			dst[y*box+x] = s
			sum += float64(s) * float64(s)
		}
	}
	for i := range dst {
		dst[i] /= float32(math.Sqrt(sum))
	}
}

// slim outlines are more than four times as long as they are wide, or as wide as they are long: l, |, −.
func (o outline) slim() bool {
	var x, y int32
	for _, polygon := range o {
		for _, p := range polygon {
			x, y = max(x, p.x), max(y, p.y)
		}
	}
	return 4*min(x, y) < max(x, y)
}

// newCandidate looks up a character in every face.
func newCandidate(t *testing.T, fonts []*sfnt.Font, buf *sfnt.Buffer, c rune) candidate {
	list := listFaces()
	families := map[string]bool{}
	k := candidate{char: c}
	var data []float32
	for i, f := range fonts {
		o, err := loadOutline(f, buf, c)
		if err != nil {
			t.Fatal(err)
		}
		if o == nil {
			continue
		}
		k.slim = k.slim || o.slim()
		k.faces = append(k.faces, i)
		families[list[i].family] = true
		data = append(data, make([]float32, box*box)...)
		describe(data[len(data)-box*box:], o)
	}
	k.families = len(families)
	k.pictures = blas32.General{Rows: len(k.faces), Cols: box * box, Stride: box * box, Data: data}
	return k
}

// alike reports whether two characters are homoglyphs, in one face or in any two faces.
func alike(a, b candidate) (bool, float32) {
	s := blas32.General{Rows: a.pictures.Rows, Cols: b.pictures.Rows, Stride: b.pictures.Rows,
		Data: make([]float32, a.pictures.Rows*b.pictures.Rows)}
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, a.pictures, b.pictures, 0, s)
	var most float32
	found := false
	for i, fa := range a.faces {
		for j, fb := range b.faces {
			v := s.Data[i*s.Stride+j]
			most = max(most, v)
			if v > alikeAnywhere || fa == fb && v > alikeInOneFont {
				found = true
			}
		}
	}
	return found, most
}

// eligible excludes marks, modifiers, boxes and blocks, Braille, and compatibility copies of other characters.
func eligible(c rune) bool {
	switch {
	case 0x2500 <= c && c <= 0x259f || unicode.Is(unicode.Braille, c) || unicode.Is(unicode.Co, c):
		return false
	case unicode.IsOneOf([]*unicode.RangeTable{unicode.Lm, unicode.Sk, unicode.M, unicode.Z}, c):
		return false
	case norm.NFKC.String(string(c)) != string(c):
		return false
	}
	return unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsSymbol(c) || strings.ContainsRune("!?&@#%§¶†‡*", c)
}

// family returns the characters that must be in one split: a letter, its other case and all its accented forms.
func family(c rune) rune {
	base := []rune(norm.NFD.String(string(c)))[0]
	return unicode.ToLower(base)
}

func choose(t *testing.T) []Character {
	fonts, err := parseFaces()
	if err != nil {
		t.Fatal(err)
	}
	var buf sfnt.Buffer
	var pool []candidate
	for c := rune(33); c < 0x1f000; c++ {
		if eligible(c) {
			if k := newCandidate(t, fonts, &buf, c); len(k.faces) >= 4 && !k.slim {
				pool = append(pool, k)
			}
		}
	}
	slices.SortStableFunc(pool, func(a, b candidate) int { return cmp.Compare(len(b.faces), len(a.faces)) })
	var kept []candidate
	for _, k := range pool {
		if !slices.ContainsFunc(kept, func(o candidate) bool { found, _ := alike(o, k); return found }) {
			kept = append(kept, k)
		}
	}
	t.Logf("%d candidates, %d without homoglyphs", len(pool), len(kept))

	groups := map[rune][]candidate{}
	var order []rune
	for _, k := range kept {
		f := family(k.char)
		if groups[f] == nil {
			order = append(order, f)
		}
		groups[f] = append(groups[f], k)
	}
	rng := rand.New(rand.NewPCG(1, 0))
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	have := map[string]int{}
	var table []Character
	narrow := 0
	for _, f := range order {
		split := Pretrain
		if common(groups[f][0]) {
			best := 0.0
			for _, w := range wanted {
				if room := float64(w.n-have[w.split]) / float64(w.n); room > best {
					split, best = w.split, room
				}
			}
		} else {
			narrow++
		}
		left := 1 << 30
		for _, w := range wanted {
			if w.split == split {
				left = min(w.n-have[split], 4)
			}
		}
		for _, k := range groups[f][:min(left, len(groups[f]))] {
			if split == Pretrain || common(k) {
				have[split]++
				table = append(table, Character{Char: k.char, Split: split})
			}
		}
	}
	t.Log(have, "groups", len(order), "narrow", narrow)
	slices.SortFunc(table, func(a, b Character) int { return cmp.Compare(a.Char, b.Char) })
	return table
}

// common reports whether a character is in enough faces and families to be a class of the dataset.
func common(k candidate) bool { return len(k.faces) >= 12 && k.families >= 3 }

func TestChoose(t *testing.T) {
	if !*update {
		t.Skip("the table is chosen only with -update")
	}
	var text strings.Builder
	for _, c := range choose(t) {
		name := strings.ToLower(runenames.Name(c.Char))
		fmt.Fprintf(&text, "U+%04X %s %s\n", c.Char, c.Split, strings.ReplaceAll(name, " ", "_"))
	}
	if err := os.WriteFile("characters.txt", []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Every third class of the dataset is compared with all other characters; known homoglyphs must be found.
func TestNoHomoglyphs(t *testing.T) {
	fonts, err := parseFaces()
	if err != nil {
		t.Fatal(err)
	}
	var buf sfnt.Buffer
	for _, pair := range []string{"AΑ", "oO", "cс", "ÈÉ", "µμ", "1l", "θΘ"} {
		c := []rune(pair)
		if found, most := alike(newCandidate(t, fonts, &buf, c[0]), newCandidate(t, fonts, &buf, c[1])); !found {
			t.Errorf("%s are not found alike (%.3f)", pair, most)
		}
	}
	var all []candidate
	for _, split := range []string{datasets.Train, datasets.Validation, datasets.Test, Pretrain} {
		for _, c := range Characters(split) {
			all = append(all, newCandidate(t, fonts, &buf, c.Char))
		}
	}
	for i := 0; i < 240; i += 3 {
		if !common(all[i]) || all[i].slim {
			t.Errorf("%U is in %d fonts of %d families, slim %v", all[i].char, len(all[i].faces), all[i].families,
				all[i].slim)
		}
		for j, other := range all {
			if j == i {
				continue
			}
			if found, most := alike(all[i], other); found {
				t.Errorf("%U and %U are homoglyphs (%.3f)", all[i].char, other.char, most)
			}
		}
	}
}
