package studies

import (
	"io"

	"winnow/internal/text"
)

// cellJSON is a cell over its seeds, in the measure's own scale.
type cellJSON struct {
	Row     string    `json:"row"`
	Column  string    `json:"column"`
	Measure string    `json:"measure"`
	N       int       `json:"n"`
	Mean    float64   `json:"mean"`
	SD      *float64  `json:"sd,omitempty"` // none for one seed
	Paper   *float64  `json:"paper,omitempty"`
	Values  []float64 `json:"values"`
}

type claimJSON struct {
	Say         string           `json:"claim"`
	State       State            `json:"state"`
	Holds       int              `json:"holds"`
	Fails       int              `json:"does_not"`
	Run         int              `json:"run"`
	Of          int              `json:"of"`
	Comparisons []comparisonJSON `json:"comparisons"`
}

type comparisonJSON struct {
	Better     string   `json:"better"`
	Than       string   `json:"than"`
	N          int      `json:"n"`
	Difference float64  `json:"difference"`
	Low        *float64 `json:"low,omitempty"` // the interval of 95 %; none for one seed
	High       *float64 `json:"high,omitempty"`
	P          *float64 `json:"p,omitempty"`    // two-sided; none for one seed
	Holm       *float64 `json:"holm,omitempty"` // the same, corrected for all comparisons of the study
	State      State    `json:"state"`
	Seeds      int      `json:"seeds_needed,omitempty"` // to settle what cannot be said
	Paper      *bool    `json:"paper,omitempty"`
}

// JSON writes the content of the other forms, unrounded.
func (r *Results) JSON(w io.Writer) error {
	out := struct {
		Study   string      `json:"study"`
		Data    string      `json:"data"`
		StandIn bool        `json:"stand_in"`
		Cells   []cellJSON  `json:"cells"`
		Claims  []claimJSON `json:"claims"`
	}{r.Study.Name, r.Data, r.StandIn, []cellJSON{}, []claimJSON{}}
	for i, row := range r.Study.Rows {
		for j, column := range r.Study.Columns {
			for _, m := range r.measures() {
				s := r.summary(i, j, m)
				if s.N == 0 {
					continue
				}
				scale := r.printed(i, m)
				c := cellJSON{Row: row.Name, Column: column.Name, Measure: m, N: s.N, Mean: s.Mean / scale}
				c.SD, c.Paper = text.Finite(s.SD/scale), text.Finite(s.Paper/scale)
				values := r.values(i, j, m)
				for _, seed := range sorted(values) {
					c.Values = append(c.Values, values[seed])
				}
				out.Cells = append(out.Cells, c)
			}
		}
	}
	for _, v := range r.verdicts() {
		c := claimJSON{
			Say: v.Claim.Say, State: v.State(), Holds: v.Count(Holds), Fails: v.Count(Fails),
			Run: len(v.Comparisons), Of: v.Of,
			Comparisons: []comparisonJSON{},
		}
		for _, q := range v.Comparisons {
			one := comparisonJSON{
				q.Better, q.Than, q.N, q.Mean, text.Finite(q.Low), text.Finite(q.High), text.Finite(q.P),
				text.Finite(q.Holm), q.State, q.Seeds, nil,
			}
			if !r.StandIn {
				one.Paper = q.Paper
			}
			c.Comparisons = append(c.Comparisons, one)
		}
		out.Claims = append(out.Claims, c)
	}
	return text.JSON(w, out)
}
