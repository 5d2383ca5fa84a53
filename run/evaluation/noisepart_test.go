package evaluation

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/filters/noiserate"
	"winnow/internal/text"
	"winnow/parts"
)

// An estimate that was dealt says, to the last digit, what one machine says, whatever the number of parts.
func TestNoiseDealt(t *testing.T) {
	r := trained(t, Options{})
	quiet := func(string, ...any) {}
	o := NoiseOptions{Manifest: r.ManifestFile, Features: r.Config.Data.Features, Methods: noiserate.Dealt(), Seed: 1, FitSample: 30, Top: 2}
	want, err := Noise(t.Context(), o, func(int, int) {}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if want.Images != training || want.True == nil || *want.True != 0.1 || len(want.Estimates) != 2 || want.Estimates[0].Judged != training || len(want.Classes) != 3 {
		t.Fatalf("found %+v", want)
	}
	join := func(out string) parts.Result {
		t.Helper()
		joined, err := parts.Join(t.Context(), out, map[string]parts.Joiner{NoiseJob: {Join: JoinNoise}, NoiseSumsJob: {Join: JoinNoiseSums}}, parts.JoinOptions{
			Progress: func(int, int) {}, Note: quiet, Runtime: func() (io.Closer, error) { return io.NopCloser(nil), nil }})
		if err != nil {
			t.Fatal(err)
		}
		return joined
	}
	for _, n := range []int{1, 4} {
		o.Out = filepath.Join(t.TempDir(), "noise.json")
		for range 2 { // passes
			for i := range n {
				if _, err := NoisePart(t.Context(), o, parts.Shard{Index: i + 1, Of: n}, "test", func(int, int) {}, quiet); err != nil {
					t.Fatal(err)
				}
			}
			var said bytes.Buffer
			if err := join(o.Out).Write(&said); err != nil {
				t.Fatal(err)
			}
			t.Log(said.String())
		}
		var whole bytes.Buffer
		if err := text.JSON(&whole, want); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(o.Out)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(whole.String(), string(got)); diff != "" {
			t.Errorf("%d parts (-one machine +joined):\n%s", n, diff)
		}
	}
	o.Methods = []string{noiserate.Confident}
	if _, err := Noise(t.Context(), o, func(int, int) {}, quiet); err == nil || !strings.Contains(err.Error(), "expected likelihood or ranks") {
		t.Errorf("confident: %v", err)
	}
	o.Methods, o.FitSample = noiserate.Dealt(), 0
	if _, err := NoisePart(t.Context(), o, parts.Shard{Index: 1, Of: 2}, "test", nil, quiet); err == nil || !strings.Contains(err.Error(), "add --fit-sample N") {
		t.Errorf("no sample: %v", err)
	}
}
