package measure_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/cluster"
	"winnow/datasets/location"
	"winnow/filters/noiserate"
	"winnow/internal/text"
	"winnow/run/measure"
)

// An estimate in parts equals that of one machine, to the last digit, for every number of parts.
func TestNoiseDealt(t *testing.T) {
	r := trained(t, measure.Options{})
	quiet := func(string, ...any) {}
	o := measure.NoiseOptions{Manifest: r.ManifestFile, Features: r.Config.Data.Features, Methods: noiserate.Dealt(),
		Seed: 1, FitSample: 30, Top: 2}
	result, err := measure.Noise(t.Context(), o, func(int, int) {}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	want := result.(measure.NoiseReport)
	if want.Images != training || want.True == nil || *want.True != 0.1 || len(want.Estimates) != 2 ||
		want.Estimates[0].Judged != training || len(want.Classes) != 3 {
		t.Fatalf("found %+v", want)
	}
	for _, n := range []int{1, 4} {
		o.Out = filepath.Join(t.TempDir(), "noise.json")
		for i := range n {
			o.Shard = cluster.Shard{Index: i + 1, Of: n}
			if _, err := measure.Noise(t.Context(), o, func(int, int) {}, quiet); err != nil {
				t.Fatal(err)
			}
		}
		joined, err := cluster.Join(t.Context(), location.At(o.Out), []cluster.Joiner{measure.NoiseJob},
			cluster.JoinOptions{Progress: func(int, int) {}, Note: quiet})
		if err != nil {
			t.Fatal(err)
		}
		var said, expected, whole bytes.Buffer
		if err := errors.Join(joined.Write(&said), want.Write(&expected), text.JSON(&whole, want)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(o.Out)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{whole.String(), expected.String()},
			[]string{string(got), said.String()}); diff != "" {
			t.Errorf("%d parts (-one machine +joined):\n%s", n, diff)
		}
	}
	o.Methods = []string{noiserate.Confident}
	if _, err := measure.Noise(t.Context(), o, func(int, int) {}, quiet); err == nil ||
		!strings.Contains(err.Error(), "expected likelihood or ranks") {
		t.Errorf("confident: %v", err)
	}
	o.Methods, o.FitSample = noiserate.Dealt(), 0
	if _, err := measure.Noise(t.Context(), o, nil, quiet); err == nil ||
		!strings.Contains(err.Error(), "expected a fit sample") {
		t.Errorf("no sample: %v", err)
	}
}
