package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/learn"
	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/internal/lookup"
)

// TestCounted: the images that a review drew at random tell the noise rate, whatever else it showed; those drawn from
// another list do not.
func TestCounted(t *testing.T) {
	const n = 400
	a := &Report{}
	wrong := func(i int) bool { return i%10 == 3 }
	for i := range n {
		p := 0.9
		a.Images = append(a.Images, suspects.Suspect{Rank: i + 1, Path: fmt.Sprint(i), Given: "ant", Suggested: "bee",
			GivenProbability: &p})
	}
	l, err := learn.New(context.Background(), learn.EvidenceOf(a.Images, map[string]int{"ant": 0, "bee": 1},
		blas32.General{}))
	if err != nil {
		t.Fatal(err)
	}
	var log []datasets.Answer
	var said []learn.Decision
	for _, goal := range []learn.Goal{learn.Find, learn.Measure, learn.Find, learn.Measure} {
		for _, q := range l.Learn(said).Next(40, goal, learn.Showing{}) {
			text, err := json.Marshal(learn.Asked{How: q.How, Wrong: q.Wrong, Draw: q.Draw})
			if err != nil {
				t.Fatal(err)
			}
			k := datasets.Answer{Path: fmt.Sprint(q.Image), Sure: true, Change: int64(len(log) + 1), Question: text,
				Checked: datasets.Checked{Given: "ant", Right: !wrong(q.Image)}}
			if !k.Right {
				k.Label = "bee"
			}
			d := learn.Decision{Question: q, Seq: k.Change, Verdict: learn.Right, Label: learn.None}
			if !k.Right {
				d.Verdict = learn.Wrong
			}
			log, said = append(log, k), append(said, d)
		}
	}
	r, err := a.countDrawn(l, log)
	if err != nil || r == nil {
		t.Fatalf("%+v, %v", r, err)
	}
	c := l.Learn(said).Count()
	if r.Images != c.Draws || r.Wrong != c.Drawn || r.Rate != c.Wrong.Estimate/n || !(r.Low < 0.1 && 0.1 < r.High) {
		t.Errorf("%+v of %+v", r, c)
	}
	a.Images = append(a.Images, suspects.Suspect{Rank: n + 1, Path: "new", Given: "ant", Suggested: "bee"})
	if l, err = learn.New(context.Background(), learn.EvidenceOf(a.Images, map[string]int{"ant": 0, "bee": 1},
		blas32.General{})); err != nil {
		t.Fatal(err)
	}
	if r, err := a.countDrawn(l, log); err != nil || r != nil {
		t.Errorf("of a longer list: %+v, %v", r, err)
	}
	log[0].Question = []byte("{")
	if _, err := a.countDrawn(l, log); err == nil {
		t.Error("a damaged question is no error")
	}
}

// A class is lost if none of its images could be read.
func TestLostClasses(t *testing.T) {
	read := func(text string) *datasets.Dataset {
		d, err := datasets.ReadManifest(strings.NewReader("path,label\n"+text), "m.csv", datasets.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct{ list, unread, want string }{
		{"a,heron\nb,heron\nc,stork\nd,\n", "a b", "heron"},
		{"a,heron\nb,heron\nc,stork\nd,\n", "a c d", "stork"},
		{"a,heron\nb,heron\nc,stork\nd,\n", "a d", ""},
		{"a,heron\nb,heron\nc,stork\nd,\n", "", ""},
		{"a,heron\nb,ibis\nc,stork\nd,stork\n", "b a", "heron ibis"},
	} {
		a := Report{source: read(c.list)}
		for _, path := range strings.Fields(c.unread) {
			a.LeftOut = append(a.LeftOut, lookup.LeftOut{Path: path})
		}
		if got := strings.Join(a.lostClasses(), " "); got != c.want {
			t.Errorf("%q without %q: %q, expected %q", c.list, c.unread, got, c.want)
		}
		if told := strings.Join(a.Sentences(), "\n"); c.want != "" != strings.Contains(told, "No image could be read") {
			t.Errorf("%q without %q: %s", c.list, c.unread, told)
		}
	}
}
