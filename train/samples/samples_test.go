package samples_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"winnow/features"
	"winnow/filters"
	"winnow/train/samples"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var names = samples.Names{Path: func(row int) string { return fmt.Sprintf("dir, \"%d\".jpg", row) },
	Class: func(k int) string {
		return fmt.Sprint("class ", k)
	}}

func listed(r *samples.Record) []samples.Sample { return slices.Collect(r.All(names)) }

func verdict(odds float64, best int) filters.Verdict { return filters.Verdict{Odds: odds, Best: best} }

// After any pushes, the positions of a row's vectors are where the bank holds its ID, also after the index is
// rebuilt from the bank.
func TestMembersAreWhereTheBankHasThem(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const rows = 9
		capacity := rapid.IntRange(1, 14).Draw(rt, "capacity")
		cfg := samples.Config{From: 1}
		for row := range rows {
			cfg.IDs, cfg.Labels = append(cfg.IDs, 70-3*row), append(cfg.Labels, 0)
		}
		r := must(samples.New(cfg))
		bank := features.NewBank(capacity, 1, 1)
		if err := r.Follow(bank); err != nil {
			rt.Fatal(err)
		}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			batch := rapid.SliceOfN(rapid.IntRange(0, rows-1), 0, 20).Draw(rt, "batch")
			set := features.NewSet(len(batch), 1)
			for i, row := range batch {
				set.IDs[i] = cfg.IDs[row]
			}
			bank.Push(set)
			r.Pushed(batch)
			if rapid.Bool().Draw(rt, "anew") {
				again := must(samples.New(cfg))
				if err := again.SetState(r.State()); err != nil {
					rt.Fatal(err)
				}
				if err := again.Follow(bank); err != nil {
					rt.Fatal(err)
				}
				r = again
			}
			for row, id := range cfg.IDs {
				var want []int
				for at, held := range bank.Set().IDs {
					if held == id {
						want = append(want, at)
					}
				}
				got := r.Members(nil, row)
				slices.Sort(got)
				if !slices.Equal(got, want) {
					rt.Fatalf("row %d: found at %v, expected %v", row, got, want)
				}
			}
		}
	})
}

func TestFollowRefusesAnotherBank(t *testing.T) {
	bank := features.NewBank(4, 1, 1)
	set := features.NewSet(2, 1)
	set.IDs[0], set.IDs[1] = 5, 6
	bank.Push(set)
	r := must(samples.New(samples.Config{IDs: []int{5}, Labels: []int{0}, From: 1}))
	if err := r.Follow(bank); err == nil {
		t.Error("a bank that is not empty was followed from its beginning")
	}
	s := r.State()
	s.Pushed = 2
	if err := r.SetState(s); err != nil {
		t.Fatal(err)
	}
	if err := r.Follow(bank); err == nil || !strings.Contains(err.Error(), "sample 6") {
		t.Errorf("a bank of other samples: %v", err)
	}
	s.Counts = map[string][]uint32{}
	if err := r.SetState(s); err == nil || !strings.Contains(err.Error(), "visits") {
		t.Errorf("a state of other rows: %v", err)
	}
}

// Forgetting, as in the definition, visit after visit.
func TestForgetting(t *testing.T) {
	for _, c := range []struct {
		best             []int // of a sample of class 0; -1: nothing known
		right, forgotten int
	}{
		{[]int{0, 0, 0}, 3, 0}, {[]int{1, 1, 2}, 0, 0}, {[]int{1, 0, 0}, 2, 0}, {[]int{0, 1, 0, 1}, 2, 2},
		{[]int{0, -1, 1}, 1, 1}, {[]int{0, 1, 1, 1, 0}, 2, 1}, {nil, 0, 0},
	} {
		r := must(samples.New(samples.Config{IDs: []int{3}, Labels: []int{0}, From: 1}))
		visits := 0
		for i, best := range c.best {
			r.Add(samples.Visit{Step: i + 1, Rows: []int{0}, Labels: []int{0},
				Verdicts: []filters.Verdict{verdict(0, best)}})
			if best >= 0 {
				visits++
			}
		}
		if s := listed(r)[0]; s.Visits != visits || s.Right != c.right || s.Forgotten != c.forgotten {
			t.Errorf("%v: %+v", c.best, s)
		}
	}
}

// Averages are over the last part and one judge; a corrected label is doubted; a class that leads at most
// visits is suggested.
func TestAverages(t *testing.T) {
	r := must(samples.New(samples.Config{IDs: []int{3, 4, 9}, Labels: []int{0, 1, -1}, From: 3}))
	add := func(step int, judge string, label int, loss float64, kept []int, v ...filters.Verdict) {
		r.Add(samples.Visit{Step: step, Rows: []int{0, 1}, Labels: []int{label, 1}, Judge: judge, Verdicts: v,
			Kept:   kept,
			Losses: []float64{loss, math.NaN()}, Lossed: []int{0, 1}})
	}
	odds := math.Log(3.0) // P = 0.75
	add(1, "vmf", 0, 100, []int{0, 1}, verdict(-odds, 1), verdict(0, 1))
	add(3, "avgsim", 0, 1, []int{0, 1}, verdict(-odds, 1), verdict(0, 1))
	add(4, "vmf", 0, 2, []int{0}, verdict(odds, 0), verdict(1000, 1))
	add(5, "vmf", 2, 50, nil, verdict(5, 0), verdict(0, -1))
	want := []samples.Sample{
		{Path: `dir, "0".jpg`, Label: "class 0", Visits: 4, Right: 1, Forgotten: 1, Seen: 3, Kept: 2,
			Score: 0.75 / 2, Loss: 1.5, Suggested: "class 2"},
		{Path: `dir, "1".jpg`, Label: "class 1", Visits: 3, Right: 3, Seen: 3, Kept: 1, Score: 1, Suggested: "class 1",
			Loss: math.NaN()},
	}
	if diff := cmp.Diff(want, listed(r), cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-12, 1e-12)); diff != "" {
		t.Error(diff)
	}
}

func some() []samples.Sample {
	nan := math.NaN()
	return []samples.Sample{
		{Path: "a", Label: "x", Visits: 4, Right: 4, Seen: 2, Kept: 2, Score: 0.9, Suggested: "x", Loss: 0.1},
		{Path: "b", Label: "x", Visits: 4, Right: 0, Seen: 2, Kept: 0, Score: 0.1, Suggested: "y", Loss: nan},
		{Path: "c,\"", Label: "y", Visits: 4, Right: 3, Forgotten: 1, Seen: 2, Kept: 2, Score: 0.5,
			Suggested: "y", Loss: 7},
		{Path: "d\nd", Label: "y", Visits: 5, Right: 4, Forgotten: 1, Seen: 2, Kept: 1, Score: 0.4,
			Suggested: "x", Loss: 0.3},
		{Path: "e", Label: "y", Score: nan, Loss: nan},
		{Path: "f", Label: "x", Visits: 4, Right: 0, Seen: 2, Kept: 0, Score: 0, Suggested: "y", Loss: nan},
	}
}

func TestRank(t *testing.T) {
	for by, want := range map[string]string{samples.SmallLoss: "fbcda", samples.Ensemble: "fbdca",
		samples.Forgetting: "fbdca"} {
		list := some()
		scores, orders, ok := samples.Rank(list, by)
		order := []int{}
		for i := range list {
			if ok[i] {
				order = append(order, i)
			}
			if math.IsNaN(scores[i]) && ok[i] || math.IsNaN(orders[i]) && ok[i] {
				t.Errorf("%s: %d: score %v, order %v", by, i, scores[i], orders[i])
			}
		}
		slices.SortStableFunc(order, func(a, b int) int {
			if scores[a] < scores[b] && orders[a] > orders[b] {
				t.Errorf("%s: %d and %d: score and order disagree", by, a, b)
			}
			return int(math.Copysign(1, orders[a]-orders[b]))
		})
		got := ""
		for _, i := range order {
			got += list[i].Path[:1]
		}
		if got != want {
			t.Errorf("%s: %s, expected %s", by, got, want)
		}
	}
	if _, _, ok := samples.Rank([]samples.Sample{{Seen: 1, Loss: math.NaN()}}, samples.SmallLoss); ok[0] {
		t.Error("a run without losses ranks by them")
	}
}

func TestTable(t *testing.T) {
	var text bytes.Buffer
	if err := samples.Write(&text, slices.Values(some())); err != nil {
		t.Fatal(err)
	}
	list, err := samples.Read(bytes.NewReader(text.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(some(), list, cmpopts.EquateNaNs()); diff != "" {
		t.Error(diff)
	}
	for name, c := range map[string]struct{ spoil, by, want string }{
		"empty":     {text.String(), "", "empty file"},
		"header":    {"path,label", "path,class", `column 2 is "class"`},
		"columns":   {"a,x,", "a,", "wrong number of fields"},
		"count":     {"a,x,4", "a,x,-4", `line 2: visits is "-4"`},
		"score":     {"0.9,x", "1.9,x", "line 2: score is 1.9"},
		"number":    {"0.9,x,0.1", "0.9,x,NaN", `line 2: loss is "NaN"`},
		"forgotten": {"4,4,0,2,2", "4,4,5,2,2", "line 2: 4 right and 5 forgotten"},
	} {
		_, err := samples.Read(strings.NewReader(strings.Replace(text.String(), c.spoil, c.by, 1)))
		if err == nil || !strings.HasPrefix(err.Error(), "samples: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, expected it to say %q", name, err, c.want)
		}
	}
}

// What can be read is written back the same, and nothing else is read.
func FuzzRead(f *testing.F) {
	var text bytes.Buffer
	must(0, samples.Write(&text, slices.Values(some())))
	f.Add(text.Bytes())
	f.Add(text.Bytes()[:60])
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := samples.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := samples.Write(&out, slices.Values(list)); err != nil {
			t.Fatal(err)
		}
		again, err := samples.Read(&out)
		if diff := cmp.Diff(list, again, cmpopts.EquateNaNs()); err != nil || diff != "" {
			t.Fatal(err, diff)
		}
	})
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []samples.Config{{IDs: []int{1}, From: 1}, {From: 0}} {
		if _, err := samples.New(c); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}

// BenchmarkAdd records a step's batch of 64 in a record of a million rows, and lists what is written to the
// file.
func BenchmarkAdd(b *testing.B) {
	const rows, batch = 1_000_000, 64
	cfg := samples.Config{From: 1}
	for row := range rows {
		cfg.IDs, cfg.Labels = append(cfg.IDs, row), append(cfg.Labels, row%1000)
	}
	r := must(samples.New(cfg))
	v := samples.Visit{Judge: "vmf", Labels: make([]int, batch), Rows: make([]int, batch), Kept: make([]int, batch),
		Losses: make([]float64, batch), Lossed: make([]int, batch), Verdicts: make([]filters.Verdict, batch)}
	b.Run("step", func(b *testing.B) {
		for b.Loop() {
			v.Step++
			for i := range v.Rows {
				v.Rows[i] = (v.Step*7919*batch + i*104729) % rows
				v.Labels[i], v.Kept[i], v.Lossed[i] = v.Rows[i]%1000, i, i
				v.Verdicts[i] = verdict(1, v.Labels[i])
			}
			r.Add(v)
		}
	})
	b.Run("table of a million", func(b *testing.B) {
		for b.Loop() {
			var n counter
			if err := samples.Write(&n, r.All(samples.Names{Path: func(row int) string {
				return fmt.Sprint("images/",
					row, ".jpg")
			},
				Class: func(k int) string { return fmt.Sprint(k) }})); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(n)/rows, "bytes/row")
		}
	})
}

type counter int

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }
