package sweep

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"winnow/internal/atomicfile"
	"winnow/internal/paired"
	"winnow/internal/text"
)

// Results are the results of a sweep so far.
type Results struct {
	Axes   []Axis
	Points []Setting
	Held   string // the split of the test numbers, "" if there is none
	Cells  []Result
	held   string // what trainings held out for validation, in words
	dir    string
	shared string // settings of all trainings, as a command
}

// Setting is a point with the summary over its seeds.
type Setting struct {
	Words      string
	Values     Point
	N          int // finished trainings
	Validation paired.Summary
	Test       paired.Summary    // N is 0 if nothing was measured
	Against    paired.Difference // its validation minus that of the first setting, seed by seed
	Holm       float64           // Against.P, corrected for the number of settings
}

// Result is a training.
type Result struct {
	Point   int
	Seed    uint64
	Folder  string
	Command string // to train it again
	Outcome *Outcome
	Failed  string // the error, "" if there is none
}

func newResults(s *Sweep) *Results {
	r := &Results{Axes: s.Axes, Held: s.held, held: s.heldOut, dir: s.Dir, shared: s.Asked.Command("")}
	for _, p := range s.Points {
		r.Points = append(r.Points, Setting{Words: s.words(p), Values: p})
	}
	for _, c := range s.cells {
		r.Cells = append(r.Cells, Result{Point: c.point, Seed: c.seed, Folder: s.dir(c),
			Command: c.asked.Command("best")})
	}
	return r
}

// at returns a cell's result.
func (r *Results) at(c cell) *Result {
	return &r.Cells[slices.IndexFunc(r.Cells, func(x Result) bool { return x.Point == c.point && x.Seed == c.seed })]
}

func (r *Results) add(c cell, o Outcome) {
	r.at(c).Outcome = &o
	r.sumUp()
}

func (r *Results) fail(c cell, err error) { r.at(c).Failed = err.Error() }

func (r *Results) len() (n int) {
	for _, c := range r.Cells {
		if c.Outcome != nil {
			n++
		}
	}
	return n
}

// Failures returns the trainings that failed.
func (r *Results) Failures() (list []Result) {
	for _, c := range r.Cells {
		if c.Failed != "" {
			list = append(list, c)
		}
	}
	return list
}

// of returns the finished trainings of a point, in the order of their seeds.
func (r *Results) of(point int) (list []Result) {
	for _, c := range r.Cells {
		if c.Point == point && c.Outcome != nil {
			list = append(list, c)
		}
	}
	return list
}

// sumUp summarises the finished trainings, and compares every point with the first.
func (r *Results) sumUp() {
	first := map[uint64]float64{}
	for _, c := range r.of(0) {
		first[c.Seed] = c.Outcome.Validation
	}
	var ps []float64
	for i := range r.Points {
		var validation, test, differences []float64
		for _, c := range r.of(i) {
			validation = append(validation, c.Outcome.Validation)
			if v := c.Outcome.Test; v != nil {
				test = append(test, *v)
			}
			if v, ok := first[c.Seed]; ok && i > 0 {
				differences = append(differences, c.Outcome.Validation-v)
			}
		}
		p := &r.Points[i]
		p.N, p.Validation, p.Test = len(validation), paired.Summarize(validation), paired.Summarize(test)
		p.Against = paired.Compare(differences)
		ps = append(ps, p.Against.P)
	}
	for i, p := range paired.Holm(ps) {
		r.Points[i].Holm = p
	}
}

// best returns the point with the highest mean validation among those with the most finished seeds, the first of equal
// ones, and the best of its trainings.
func (r *Results) best() (point int, c Result, ok bool) {
	most := 0
	for _, p := range r.Points {
		most = max(most, p.N)
	}
	point = -1
	for i, p := range r.Points {
		if most > 0 && p.N == most && (point < 0 ||
			p.Validation.Mean > r.Points[point].Validation.Mean+paired.Rounding) {
			point = i
		}
	}
	if point < 0 {
		return point, c, false
	}
	return point, slices.MaxFunc(r.of(point), func(a, b Result) int {
		return cmp.Compare(a.Outcome.Validation, b.Outcome.Validation)
	}), true
}

// ranked returns the points with finished trainings by mean validation, the best first.
func (r *Results) ranked() (order []int) {
	for i, p := range r.Points {
		if p.N > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(r.Points[b].Validation.Mean, r.Points[a].Validation.Mean)
	})
	return order
}

// write writes results.csv, results.json and report.html.
func (r *Results) write(dir string) error {
	return atomicfile.WriteAll(dir, map[string]func(io.Writer) error{"results.csv": r.csv, "results.json": r.JSON,
		"report.html": func(w io.Writer) error { return r.page().WriteHTML(w) }})
}

// csv writes a row for each training: a column for each setting, seed, state (done, failed, open), validation, test,
// frozen and whitened P@1, steps, seconds, folder, error. P@1 are shares.
func (r *Results) csv(w io.Writer) error {
	table := csv.NewWriter(w)
	var head []string
	for _, a := range r.Axes {
		head = append(head, a.Key)
	}
	table.Write(append(head, "seed", "state", "validation_p@1", "test_p@1", "frozen_p@1", "whitened_p@1", "best_step",
		"steps", "seconds", "folder", "error")) // Error returns the errors
	for _, c := range r.Cells {
		values := slices.Clone([]string(r.Points[c.Point].Values))
		line := append(values, strconv.FormatUint(c.Seed, 10), c.state())
		number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
		if o := c.Outcome; o != nil {
			test := ""
			if o.Test != nil {
				test = number(*o.Test)
			}
			line = append(line, number(o.Validation), test, number(o.Frozen), number(o.Whitened),
				strconv.Itoa(o.BestStep), strconv.Itoa(o.Steps), strconv.FormatFloat(o.Seconds, 'f', 2, 64))
		} else {
			line = append(line, "", "", "", "", "", "", "")
		}
		table.Write(append(line, c.Folder, c.Failed))
	}
	table.Flush()
	return table.Error()
}

func (c Result) state() string {
	switch {
	case c.Outcome != nil:
		return "done"
	case c.Failed != "":
		return "failed"
	}
	return "open"
}

// JSON writes the settings with their summaries and comparisons, the trainings, and the best.
func (r *Results) JSON(w io.Writer) error {
	type summed struct {
		Mean float64  `json:"mean"`
		SD   *float64 `json:"sd"` // null for one seed
	}
	sum := func(s paired.Summary) *summed {
		if s.N == 0 {
			return nil
		}
		return &summed{s.Mean, text.Finite(s.SD)}
	}
	type compared struct {
		Seeds int      `json:"seeds"`
		Mean  float64  `json:"mean"`
		Low   *float64 `json:"low"` // null for one seed
		High  *float64 `json:"high"`
		P     *float64 `json:"p"` // null with fewer than five
		Holm  *float64 `json:"p_holm"`
	}
	type setting struct {
		Settings   map[string]string `json:"settings"`
		Seeds      int               `json:"seeds"`
		Validation *summed           `json:"validation_p@1"`
		Test       *summed           `json:"test_p@1"`
		Against    *compared         `json:"validation_against_first"`
	}
	type trained struct {
		Settings map[string]string `json:"settings"`
		Seed     uint64            `json:"seed"`
		State    string            `json:"state"`
		Folder   string            `json:"folder"`
		Error    string            `json:"error,omitempty"`
		Command  string            `json:"command"`
		Outcome  *Outcome          `json:"outcome"`
	}
	type best struct {
		Settings map[string]string `json:"settings"`
		Folder   string            `json:"folder"`
		Command  string            `json:"command"`
	}
	named := func(p Point) map[string]string {
		out := map[string]string{}
		for i, v := range p {
			out[r.Axes[i].Key] = v
		}
		return out
	}
	out := struct {
		Best      *best     `json:"best"` // by validation
		TestSplit string    `json:"test_split"`
		Settings  []setting `json:"settings"`
		Trainings []trained `json:"trainings"`
	}{TestSplit: r.Held, Settings: []setting{}, Trainings: []trained{}}
	if point, c, ok := r.best(); ok {
		out.Best = &best{named(r.Points[point].Values), c.Folder, c.Command}
	}
	for _, p := range r.Points {
		s := setting{Settings: named(p.Values), Seeds: p.N, Validation: sum(p.Validation), Test: sum(p.Test)}
		if d := p.Against; d.N > 0 {
			s.Against = &compared{d.N, d.Mean, text.Finite(d.Low), text.Finite(d.High), text.Finite(d.P),
				text.Finite(p.Holm)}
		}
		out.Settings = append(out.Settings, s)
	}
	for _, c := range r.Cells {
		out.Trainings = append(out.Trainings, trained{named(r.Points[c.Point].Values), c.Seed, c.state(), c.Folder,
			c.Failed, c.Command, c.Outcome})
	}
	return text.JSON(w, out)
}

// percent returns a summary as text: "71.23 ±0.41".
func percent(s paired.Summary) string {
	switch {
	case s.N == 0:
		return "–"
	case s.N == 1:
		return fmt.Sprintf("%.2f", 100*s.Mean)
	}
	return fmt.Sprintf("%.2f ±%.2f", 100*s.Mean, 100*s.SD)
}
