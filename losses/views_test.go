package losses

import (
	"math"
	"math/rand/v2"
	"testing"

	"winnow/features"
)

// twoViews returns a batch as in SupCon: five images of three classes in two views each, all first views before all
// second views. One image is the only one of its class.
func twoViews() features.Set {
	const images, dim = 5, 4
	z := features.NewSet(2*images, dim)
	for i := range z.Len() {
		z.Labels[i], z.IDs[i] = []int{0, 0, 1, 1, 2}[i%images], i%images
		for k := range dim {
			z.Row(i)[k] = float32(math.Sin(float64(1+3*i+k*k) + 0.7*float64(i*k)))
		}
	}
	if err := features.Normalize(z.X); err != nil {
		panic(err)
	}
	return z
}

func viewsEnv(views bool) Env {
	source := func() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
	return Env{Dim: 4, Classes: 3, Views: views, Init: source(), Step: source}
}

// A separate program in another language computed the expected numbers with loops over Eq. 2, 3 and 14 of 004 and over
// InfoNCE. Every other row with the same label is a positive, including the image's other view.
func TestViewsArePositives(t *testing.T) {
	for _, c := range []struct {
		name     string
		settings map[string]any
		want     float64
	}{
		{"supcon", map[string]any{"kind": "out"}, 5.578421535991798},
		{"supcon", map[string]any{"kind": "in"}, 1.663157430123802},
		{"scl_rhe", map[string]any{"tau": 0.1}, 5.529945208550403},
		{"ntxent", map[string]any{"temperature": 0.1}, 4.99959907705262},
	} {
		loss, err := New(c.name, c.settings, viewsEnv(true))
		if err != nil {
			t.Fatal(err)
		}
		if got := loss.Eval(nil, twoViews(), nil); math.Abs(got-c.want) > 1e-5*c.want {
			t.Errorf("%s %v: %v, expected %v", c.name, c.settings, got, c.want)
		}
		apart, err := New(c.name, c.settings, viewsEnv(false))
		if err != nil {
			t.Fatal(err)
		}
		if got := apart.Eval(nil, twoViews(), nil); math.Abs(got-c.want) < 1e-3*c.want {
			t.Errorf("%s %v: %v without views, expected a different value than with views", c.name, c.settings, got)
		}
	}
}

// With views, every loss of the catalog treats the rows of one image like rows of different images. Without
// views, losses of pairs do not.
func TestViewsOfEveryLoss(t *testing.T) {
	differ := 0
	for _, e := range Catalog {
		for _, settings := range settingVariants(e) {
			value := func(views, ids bool) (float64, []float32) {
				loss, err := New(e.Name, settings, viewsEnv(views))
				if err != nil {
					t.Fatal(err)
				}
				z := twoViews()
				if !ids {
					for i := range z.IDs {
						z.IDs[i] = i
					}
				}
				grad := features.NewMatrix(z.Len(), z.Dim())
				return loss.Eval(&grad, z, nil), grad.Data
			}
			with, slopes := value(true, true)
			want, expected := value(true, false)
			if with != want && !(math.IsNaN(with) && math.IsNaN(want)) {
				t.Errorf("%s %v: %v, expected %v as for different images", e.Name, settings, with, want)
			}
			for k := range slopes {
				if slopes[k] != expected[k] {
					t.Fatalf("%s %v: the gradient differs from that of different images", e.Name, settings)
				}
			}
			if without, _ := value(false, true); without != with {
				differ++
			}
		}
	}
	if differ < 20 {
		t.Errorf("views change %d losses", differ)
	}
}

// With views, gradients equal finite differences.
func TestViewsGradient(t *testing.T) {
	for name, settings := range map[string]map[string]any{
		"supcon": nil, "scl_rhe": {"tau": 0.1}, "ntxent": nil, "contrastive": {"margin": -0.5}, "snr_contrastive": nil,
		"multi_similarity": {"miner": false},
	} {
		loss, err := New(name, settings, viewsEnv(true))
		if err != nil {
			t.Fatal(err)
		}
		z := twoViews()
		grad := features.NewMatrix(z.Len(), z.Dim())
		loss.Eval(&grad, z, nil)
		for i := range z.Len() {
			for k := range z.Dim() {
				const h = 1.0 / 512
				row, was := z.Row(i), z.Row(i)[k]
				row[k] = was + h
				up := loss.Eval(nil, z, nil)
				row[k] = was - h
				down := loss.Eval(nil, z, nil)
				row[k] = was
				slope, got := (up-down)/(2*h), float64(features.Row(grad, i)[k])
				if math.Abs(slope-got) > 0.02*math.Abs(slope)+0.01 {
					t.Errorf("%s: gradient %v at row %d, %d, expected %v by differences", name, got, i, k, slope)
				}
			}
		}
	}
}
