package grid

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseJobs(t *testing.T) {
	for text, want := range map[string]int{"": 0, "1": 1, "12": 12, "auto": Auto} {
		if n, err := ParseJobs(text); n != want || err != nil {
			t.Errorf("%q: found %d, %v, expected %d", text, n, err, want)
		}
	}
	for _, text := range []string{"0", "-1", "two", "1.5", "Auto"} {
		if n, err := ParseJobs(text); err == nil {
			t.Errorf("%q: found %d, expected an error", text, n)
		}
	}
}

// The number of trainings is doubled as long as the speed rises by 10 %, no training fails, and memory suffices.
func TestTogether(t *testing.T) {
	for name, c := range map[string]struct {
		speeds []float64 // steps per second of 1, 2, 4, … trainings; 0: they fail
		most   int
		best   int
		told   string
	}{
		"gains": {[]float64{5, 8, 12, 12.5}, 16, 4,
			"4 at once (1 makes 5 steps a second, 2 make 8, 4 make 12, 8 make 12.5)"},
		"no gain":      {[]float64{5, 5.2}, 16, 1, "1 at once (1 makes 5 steps a second, 2 make 5.2)"},
		"loses":        {[]float64{5, 4}, 16, 1, "1 at once (1 makes 5 steps a second, 2 make 4)"},
		"out of room":  {[]float64{5, 9, 0}, 16, 2, "2 at once (1 makes 5 steps a second, 2 make 9, 4: full)"},
		"as many":      {[]float64{5, 9, 11}, 3, 3, "3 at once (1 makes 5 steps a second, 2 make 9, 3 make 11)"},
		"one":          {[]float64{5}, 1, 1, "1 at once (1 makes 5 steps a second)"},
		"none of them": {[]float64{0}, 4, 1, "1 at once (1: full)"},
	} {
		tried := 0
		list, err := timeTogether(t.Context(), c.most, func(n int, full func()) (float64, error) {
			full()
			at := c.speeds[tried]
			if tried++; at == 0 {
				return 0, errors.New("full")
			}
			return at, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if list.chooseBestPace() != c.best || tried != len(c.speeds) {
			t.Errorf("%s: found %d after %d speeds, expected %d after %d", name, list.chooseBestPace(), tried, c.best,
				len(c.speeds))
		}
		if diff := cmp.Diff(c.told, list.String()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	_, err := timeTogether(ctx, 4, func(int, func()) (float64, error) {
		stop()
		return 0, errors.New("ended")
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected the error of the cancelled context", err)
	}
}
