package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"winnow/filters/selfpaced"
	"winnow/internal/tfevents"
)

// MetricsFile is the name of the metrics in a run's folder.
const MetricsFile = "metrics.jsonl"

// Metric is one line of metrics.jsonl: a step, a validation, or a round of weights. Its values are independent of
// the clock and the machine's speed, so that an interrupted and resumed run writes the same bytes as an
// uninterrupted run. Only the event files contain wall-clock times. Fields that do not apply are nil or 0.
type Metric struct {
	Step         int                `json:"step"`
	Epoch        int                `json:"epoch"`
	Loss         *float64           `json:"loss,omitempty"`
	PairLoss     *float64           `json:"loss_per_pair,omitempty"` // nil: no term sums over pairs
	Terms        map[string]float64 `json:"terms,omitempty"`
	LR           *float64           `json:"lr,omitempty"`
	LossLR       *float64           `json:"loss_lr,omitempty"`
	BackboneLR   *float64           `json:"backbone_lr,omitempty"`
	PeerLR       *float64           `json:"peer_lr,omitempty"`
	Rows         int                `json:"rows,omitempty"`
	Kept         *int               `json:"kept,omitempty"`
	KeptShare    *float64           `json:"kept_share,omitempty"`
	Threshold    *float64           `json:"threshold,omitempty"`
	GradientNorm *float64           `json:"gradient_norm,omitempty"`
	Bank         int                `json:"bank,omitempty"`
	Skipped      bool               `json:"skipped,omitempty"`
	Validation   *float64           `json:"validation,omitempty"`
	Best         *bool              `json:"best,omitempty"`
	Weights      *selfpaced.Round   `json:"selfpaced,omitempty"`
}

// metrics writes metrics.jsonl and TensorBoard events.
type metrics struct {
	lines  *lineFile
	events *tfevents.File
	terms  []string // names of the loss terms, in order
}

// openMetrics opens the metrics of a run in dir so that the run continues after the progress at. It removes the lines
// of later steps, which the run wrote before it was interrupted.
func openMetrics(dir string, at Progress, terms []string, now func() time.Time) (*metrics, error) {
	lines, err := openLines(dir, MetricsFile, func(text []byte) (bool, error) {
		var l Metric
		if err := json.Unmarshal(text, &l); err != nil {
			return false, fmt.Errorf("not a line of metrics: %w", err)
		}
		last := at.Step
		switch {
		case l.Validation != nil:
			last = at.Validated
		case l.Weights != nil:
			last = at.Weighed
		}
		return l.Step <= last, nil
	})
	if err != nil {
		return nil, err
	}
	first := at.Step + 1
	if at.Step == 0 {
		first = 0 // the untrained head's validation counts as step 0
	}
	ev, err := tfevents.Open(dir, first, now)
	if err != nil {
		lines.closeLines()
		return nil, fmt.Errorf("train: %w", err)
	}
	return &metrics{lines, ev, terms}, nil
}

func newScalar(tag string, value float64) tfevents.Scalar {
	return tfevents.Scalar{Tag: tag, Value: value}
}

// writeStep writes one training step.
func (m *metrics) writeStep(s *Step) error {
	kept, share := len(s.Kept), s.KeptShare()
	l := Metric{Step: s.Number, Epoch: s.Epoch, Loss: &s.Loss, LR: &s.LR, Rows: len(s.IDs), Kept: &kept,
		KeptShare:    &share,
		GradientNorm: &s.GradientNorm, Bank: s.Bank, Skipped: s.Skipped}
	values := []tfevents.Scalar{newScalar("loss", s.Loss), newScalar("lr", s.LR), newScalar("kept_share", share),
		newScalar("gradient_norm", s.GradientNorm)}
	if s.PairLoss != s.Loss {
		l.PairLoss = &s.PairLoss
		values = append(values, newScalar("loss_per_pair", s.PairLoss))
	}
	if len(s.Terms) > 1 {
		l.Terms = make(map[string]float64, len(s.Terms))
		for i, v := range s.Terms {
			l.Terms[m.terms[i]] = v
			values = append(values, newScalar("loss/"+m.terms[i], v))
		}
	}
	if s.LossLR > 0 {
		l.LossLR = &s.LossLR
		values = append(values, newScalar("loss_lr", s.LossLR))
	}
	if s.BackboneLR > 0 {
		l.BackboneLR = &s.BackboneLR
		values = append(values, newScalar("backbone_lr", s.BackboneLR))
	}
	if s.PeerLR > 0 {
		l.PeerLR = &s.PeerLR
		values = append(values, newScalar("peer_lr", s.PeerLR))
	}
	if s.HasThreshold {
		l.Threshold = &s.Threshold
		values = append(values, newScalar("threshold", s.Threshold))
	}
	return m.putMetric(l, values)
}

func (m *metrics) writeValidation(v Validation) error {
	return m.putMetric(Metric{Step: v.Step, Epoch: v.Epoch, Validation: &v.Score, Best: &v.Best},
		[]tfevents.Scalar{newScalar("validation", v.Score)})
}

func (m *metrics) putMetric(l Metric, values []tfevents.Scalar) error {
	if err := m.lines.putLine(l.Step, l); err != nil {
		return err
	}
	if err := m.events.Write(l.Step, values); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}

func (m *metrics) closeMetrics() error { return errors.Join(m.lines.closeLines(), m.events.Close()) }
