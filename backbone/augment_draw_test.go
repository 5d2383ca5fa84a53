package backbone

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// plans returns the plans of n views of an image of w×h pixels.
func plans(a Augmentation, p Preprocessing, w, h, n int) []view {
	rng := rand.New(rand.NewPCG(11, 12))
	out := make([]view, n)
	for i := range out {
		out[i] = a.planView(p, w, h, drawFrom(rng))
	}
	return out
}

// uniform measures how unequal the counts are: χ² divided by its expectation, about 1 ± √(2/cells) if uniform.
func uniform(counts []int) float64 {
	total := 0
	for _, c := range counts {
		total += c
	}
	mean := float64(total) / float64(len(counts))
	chi := 0.0
	for _, c := range counts {
		chi += (float64(c) - mean) * (float64(c) - mean) / mean
	}
	return chi / float64(len(counts)-1)
}

// checkUniform fails if χ² is more than six standard deviations above its expectation.
func checkUniform(t *testing.T, what string, counts []int) {
	t.Helper()
	if u := uniform(counts); u > 1+6*math.Sqrt(2/float64(len(counts)-1)) {
		t.Errorf("%s is not uniform: χ² is %.2f times its expectation, counts %v", what, u, counts)
	}
}

// TestRandomCropsUniform checks that all places of a square of 40 within 48 pixels are equally likely, including the
// first and the last.
func TestRandomCropsUniform(t *testing.T) {
	p := unchanged(0, 40, "bilinear")
	for _, a := range []Augmentation{{Crop: cropRandom, Resize: 48, Exact: true}, {Crop: cropRandom, Pad: 4}} {
		across, down, both := make([]int, 9), make([]int, 9), make([]int, 81)
		for _, v := range plans(a, p, 40, 40, 8100) {
			across[v.across.start]++
			down[v.down.start]++
			both[9*v.down.start+v.across.start]++
		}
		checkUniform(t, "column", across)
		checkUniform(t, "row", down)
		checkUniform(t, "corner", both)
	}
	spoiled := make([]int, 9)
	for _, v := range plans(Augmentation{Crop: cropRandom, Pad: 4}, p, 40, 40, 8100) {
		spoiled[min(v.across.start, 7)]++ // the last place never occurs
	}
	if u := uniform(spoiled); u < 1+6*math.Sqrt(2./8) {
		t.Errorf("a missing place gives χ² of %.2f: the check is too weak", u)
	}
}

// TestResizedCropsInBounds checks that areas and aspect ratios are uniform within their bounds, up to rounding to
// whole pixels, and that the rectangle is anywhere within the image.
func TestResizedCropsInBounds(t *testing.T) {
	const w, h, n = 400, 300, 20000
	a := Augmentation{Crop: cropResized, Scale: [2]float64{0.2, 0.6}, Ratio: [2]float64{0.5, 2}}
	areas, aspects, places := make([]int, 10), make([]int, 10), make([]int, 10)
	for _, v := range plans(a, unchanged(0, 64, "bilinear"), w, h, n) {
		x, y, bw, bh := v.across.from, v.down.from, v.across.n, v.down.n
		if x < 0 || y < 0 || bw < 1 || bh < 1 || x+bw > w || y+bh > h {
			t.Fatalf("a crop of %d×%d at %d, %d exceeds the image", bw, bh, x, y)
		}
		area, aspect := float64(bw)*float64(bh)/(w*h), float64(bw)/float64(bh)
		slack := 1 / float64(min(bw, bh))
		if area < 0.2*(1-slack) || area > 0.6*(1+slack) || aspect < 0.5*(1-slack) || aspect > 2*(1+slack) {
			t.Fatalf("%d×%d: area %.3f, aspect %.3f", bw, bh, area, aspect)
		}
		if area < 0.4 { // larger areas are rejected more often; here nearly all aspect ratios fit
			areas[min(max(int((area-0.2)/0.2*10), 0), 9)]++
		}
		if area < 0.33 {
			aspects[min(max(int((math.Log(aspect)/math.Ln2+1)/2*10), 0), 9)]++
		}
		if w-bw >= 40 {
			places[int(float64(x)/float64(w-bw+1)*10)]++
		}
	}
	for what, counts := range map[string][]int{"area": areas, "aspect": aspects, "place": places} {
		for _, c := range counts {
			if mean := float64(sum(counts)) / 10; math.Abs(float64(c)-mean) > 0.12*mean {
				t.Errorf("%s: %v, expected about %.0f each", what, counts, mean)
				break
			}
		}
	}
}

func sum(counts []int) int {
	s := 0
	for _, c := range counts {
		s += c
	}
	return s
}

// TestResizedCropOfExtremeAspect checks that the centre is used, as in torchvision, if no try fits. The numbers are
// those of RandomResizedCrop.get_params in torchvision 0.14.1 with scale (1, 1).
func TestResizedCropOfExtremeAspect(t *testing.T) {
	a := Augmentation{Crop: cropResized, Scale: [2]float64{1, 1}}
	for _, c := range []struct{ w, h, x, y, bw, bh int }{
		{1000, 10, 493, 0, 13, 10}, {10, 1000, 0, 493, 10, 13}, {1, 900, 0, 449, 1, 1}, {900, 1, 449, 0, 1, 1},
		{7, 3, 1, 0, 4, 3},
	} {
		for _, v := range plans(a, unchanged(0, 8, "bilinear"), c.w, c.h, 20) {
			if got := [4]int{v.across.from, v.down.from, v.across.n, v.down.n}; got != [4]int{c.x, c.y, c.bw, c.bh} {
				t.Fatalf("%d×%d: %v, expected %v", c.w, c.h, got, c)
			}
		}
	}
}

// TestFrequencies checks that flips, jitter and grey occur with their probabilities, that factors fill their ranges,
// and that the four colour changes occur in every order.
func TestFrequencies(t *testing.T) {
	const n = 24000
	a := Augmentation{Flip: 0.3, Jitter: [4]float64{0.4, 2, 0.1, 0.2}, JitterP: 0.8, Grey: 0.1, Rotate: 15,
		Shift: 0.2, Zoom: 0.25}
	flips, jitters, greys := 0, 0, 0
	orders := map[[4]uint8]int{}
	low, high := [7]float64{9, 9, 9, 9, 9, 9, 9}, [7]float64{-9, -9, -9, -9, -9, -9, -9}
	for _, v := range plans(a, unchanged(0, 8, "bilinear"), 20, 20, n) {
		if v.flip {
			flips++
		}
		if v.colour.grey {
			greys++
		}
		values := []float64{v.warp.angle * 180 / math.Pi / 15, v.warp.right, v.warp.zoom}
		if v.colour.steps > 0 {
			jitters++
			orders[v.colour.order]++
			values = append(values, v.colour.factor[:]...)
		}
		for i, x := range values {
			low[i], high[i] = min(low[i], x), max(high[i], x)
		}
	}
	for what, c := range map[string]struct {
		count int
		p     float64
	}{"flip": {flips, 0.3}, "jitter": {jitters, 0.8}, "grey": {greys, 0.1}} {
		if sigma := math.Sqrt(n * c.p * (1 - c.p)); math.Abs(float64(c.count)-n*c.p) > 5*sigma {
			t.Errorf("%s: %d of %d, expected %.0f ± %.0f", what, c.count, n, n*c.p, sigma)
		}
	}
	var counts []int
	for _, c := range orders {
		counts = append(counts, c)
	}
	if len(counts) != 24 {
		t.Errorf("%d orders, expected 24", len(counts))
	}
	checkUniform(t, "order", counts)
	wantLow, wantHigh := [7]float64{-1, -0.2, 0.75, 0.6, 0, 0.9, -0.2}, [7]float64{1, 0.2, 1.25, 1.4, 3, 1.1, 0.2}
	for i := range low {
		if slack := (wantHigh[i] - wantLow[i]) / 500; low[i] < wantLow[i] || high[i] > wantHigh[i] ||
			low[i] > wantLow[i]+slack || high[i] < wantHigh[i]-slack {
			t.Errorf("value %d is in %.3f … %.3f, expected %.3f … %.3f", i, low[i], high[i], wantLow[i], wantHigh[i])
		}
	}
}

// TestDrawsAreFixed checks that a generator gives the same view from a new and a used viewer, that every view takes
// equally many random numbers with any augmentation, and that enabling colour changes does not move the crop.
func TestDrawsAreFixed(t *testing.T) {
	img := resizePicture(t)
	p := unchanged(36, 28, "bilinear")
	after := map[uint64]bool{}
	for _, r := range Recipes()[1:] {
		used, err := NewViewer(p, r.Augmentation)
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]float32, p.Size())
		seen := map[string]bool{}
		for seed := range uint64(12) {
			rng := rand.New(rand.NewPCG(seed, 5))
			if err := used.Into(dst, img, rng); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(dst, viewAt(t, p, r.Augmentation, img, seed)) {
				t.Errorf("%s: seed %d gives a different view from a used viewer", r.Name, seed)
			}
			seen[fmt.Sprint(dst)] = true
			if seed == 0 {
				after[rng.Uint64()] = true
			}
		}
		if want := 2; len(seen) < want || r.Name != "flip" && len(seen) < 9 {
			t.Errorf("%s: %d different views of 12", r.Name, len(seen))
		}
	}
	rng := rand.New(rand.NewPCG(0, 5))
	for range 34 {
		rng.Float64()
	}
	if len(after) != 1 || !after[rng.Uint64()] {
		t.Errorf("recipes leave the generator in %d states, expected one, after 34 numbers", len(after))
	}
	supcon, err := ParseAugmentation("supcon")
	if err != nil {
		t.Fatal(err)
	}
	pale := supcon
	pale.Jitter, pale.JitterP, pale.Grey = [4]float64{}, 0, 0
	for i, v := range plans(supcon, p, 61, 47, 50) {
		if w := plans(pale, p, 61, 47, 50)[i]; v.across != w.across || v.down != w.down || v.flip != w.flip {
			t.Fatalf("view %d: colour changes move the crop", i)
		}
	}
}
