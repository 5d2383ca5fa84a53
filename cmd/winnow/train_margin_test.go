package main

import (
	"encoding/json"
	"testing"

	"winnow/run/measure"
	"winnow/train"
)

// The β of every class of a margin loss is trained; losses that draw negatives or take two means train, too.
func TestTrainWithMarginAndItsKin(t *testing.T) {
	drawnRun(t)
	for _, c := range []struct {
		name, losses string
		params       int
	}{
		{"beta", "--loss margin --set losses.0.settings.learn=class", 1},
		{"plain", "--loss margin --set losses.0.settings.select=distance_weighted", 0},
		{"means", "--loss adapted_triplet --set losses.0.settings.lambda=0.5", 0},
		{"sums", "--loss marginal:0.5 --loss quadruplet:0.5 --set losses.0.settings.select=random_semihard", 0},
	} {
		mustRun(t, "winnow train --manifest noisy.csv --root drawn --features features --noise-rate 0.33 --screen "+
			"none --epochs 4 "+c.losses+" --out "+c.name)
		params, err := train.ReadLossParams(c.name)
		if err != nil || len(params) != c.params {
			t.Fatalf("%s: %d parameters of losses (%v), expected %d", c.name, len(params), err, c.params)
		}
		moved := 0
		for _, p := range params {
			for _, v := range p.Data {
				if v != 1.2 {
					moved++
				}
			}
			if p.Rows < 2 || moved != p.Rows {
				t.Errorf("%s: %d of %d thresholds have moved", c.name, moved, p.Rows)
			}
		}
		var result measure.Result
		if err := json.Unmarshal([]byte(mustRun(t, "winnow eval "+c.name+" --json")), &result); err != nil ||
			result.PrecisionAt1 < 0.7 {
			t.Errorf("%s: P@1 %v (%v)", c.name, result.PrecisionAt1, err)
		}
	}
}
