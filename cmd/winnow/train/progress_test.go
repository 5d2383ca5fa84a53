package train

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"winnow/run"
	"winnow/train"
)

// TestLossPerPair checks that a loss that sums over pairs is shown per pair, and any other loss unchanged.
func TestLossPerPair(t *testing.T) {
	for _, c := range []struct {
		pair float64
		want string
	}{{0.25, "loss per pair 0.2500"}, {160, "  loss 160.0000"}} {
		var out bytes.Buffer
		now := time.Unix(0, 0)
		p := NewProgress(&out, func() time.Time { return now })
		p.Begun(run.Plan{Steps: 9})
		now = now.Add(time.Minute)
		p.Stepped(train.Step{Number: 1, Epoch: 1, Loss: 160, PairLoss: c.pair})
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("%q, expected %q", out.String(), c.want)
		}
	}
}
