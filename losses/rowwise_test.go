package losses

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"winnow/features"
)

// jointLosses are the losses of the catalog that report, with default settings, that they have no terms of
// rows.
var jointLosses = []string{"adapted_triplet", "n_pair", "proxy_anchor", "quadruplet", "snr_contrastive"}

// noting returns a loss that records its terms, or nil.
func noting(l Loss) RowWise {
	if r, ok := l.(RowWise); ok && r.NoteTerms() {
		return r
	}
	return nil
}

func TestWhichLossesHaveTerms(t *testing.T) {
	for _, e := range Catalog {
		has := noting(catalogSubject(t, e, nil).build()) != nil
		if has == slices.Contains(jointLosses, e.Name) {
			t.Errorf("%s: has terms: %v", e.Name, has)
		}
	}
	for _, s := range []struct {
		name     string
		settings map[string]any
	}{{"circle", map[string]any{"form": "global"}}, {"triplet", map[string]any{"swap": true}},
		{"multi_similarity", map[string]any{"match": 3.0}}} {
		e, err := Find(s.name)
		if err != nil {
			t.Fatal(err)
		}
		if noting(catalogSubject(t, e, s.settings).build()) != nil {
			t.Errorf("%s %v: has terms", s.name, s.settings)
		}
	}
}

// checkTerms checks that value and gradient equal those of a loss that does not record terms, and that the mean
// of the terms is the value. off is the part of the loss that is in no term.
func checkTerms(plain Loss, noted RowWise, in exactInput) error {
	want, wantGrad := public(plain, in)
	got, grad := public(noted, in)
	if !near(got, want, 1e-12, 1e-14) {
		return fmt.Errorf("value %v, without terms %v", got, want)
	}
	if rel, _ := worst(grad, wantGrad); rel > 1e-6 {
		return fmt.Errorf("gradient off by %v", rel)
	}
	var sum float64
	for i, v := range noted.Terms() {
		if math.IsNaN(v) {
			return fmt.Errorf("row %d has no term", i)
		}
		sum += v
	}
	if mean := sum / float64(len(in.z)); len(noted.Terms()) != len(in.z) || !near(mean, want, 1e-10, 1e-14) {
		return fmt.Errorf("%d terms of mean %v, expected %d of mean %v", len(noted.Terms()), mean, len(in.z), want)
	}
	return nil
}

func TestTermsAddUp(t *testing.T) {
	seen := 0
	for _, e := range Catalog {
		for _, settings := range append(settingVariants(e), moreVariants[e.Name]...) {
			s := catalogSubject(t, e, settings)
			if tau, ok := settings["tau"].(float64); e.Name == "soft_triple" && ok && tau > 0 {
				continue // its regulariser is in no term
			}
			for _, in := range s.inputs(7, 120) {
				noted := noting(s.build())
				if noted == nil {
					continue
				}
				seen++
				if err := checkTerms(s.build(), noted, in); err != nil {
					t.Errorf("%s %v: %v", e.Name, settings, err)
				}
			}
		}
	}
	if seen < 60 {
		t.Errorf("%d losses had terms", seen)
	}
}

// If the sum of a loss is divided by the number of rows, a term is the value of the row alone.
func TestTermOfARowAlone(t *testing.T) {
	for _, name := range []string{"multi_similarity", "supcon", "contrastive", "proxy_nca", "soft_triple",
		"norm_softmax", "cross_entropy"} {
		e, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		s := catalogSubject(t, e, nil)
		list := s.inputs(9, 80)
		in := list[len(list)-1] // with a bank, where the loss takes one
		noted := noting(s.build())
		public(noted, in)
		terms := slices.Clone(noted.Terms())
		for i := range in.z {
			one := in
			one.z, one.labels, one.ids = in.z[i:i+1], in.labels[i:i+1], in.ids[i:i+1]
			if want, _ := public(s.build(), one); !near(terms[i], want, 1e-6, 1e-7) {
				t.Errorf("%s: row %d: term %v, alone %v", name, i, terms[i], want)
			}
		}
	}
}

// A row without another of its label, apart from itself and its copies, has no term, except in class losses,
// where every row has one.
func TestTermsOfLonelyRows(t *testing.T) {
	in := conformInput(3, 40)
	in.labels[11], in.labels[12] = conformClasses-1, conformClasses-1
	for i, y := range in.labels {
		if y == conformClasses-1 && i != 11 && i != 12 {
			in.labels[i] = 0
		}
	}
	in.ids[12] = in.ids[11]
	for _, name := range []string{"contrastive", "triplet", "cross_entropy"} {
		e, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		noted := noting(catalogSubject(t, e, nil).build())
		public(noted, in)
		for i, v := range noted.Terms() {
			if lonely := e.Against == Both && (i == 11 || i == 12); math.IsNaN(v) != lonely {
				t.Errorf("%s: row %d: term %v", name, i, v)
			}
		}
		noted.Eval(nil, features.NewSet(0, conformDim), nil)
		if n := len(noted.Terms()); n > 0 {
			t.Errorf("%s: an empty batch left %d terms", name, n)
		}
	}
}

// misplacedTerms is a loss with one wrong term.
type misplacedTerms struct{ RowWise }

func (l misplacedTerms) Terms() []float64 {
	list := slices.Clone(l.RowWise.Terms())
	list[0] *= 1.001
	return list
}

func TestSpoiledTermsAreSeen(t *testing.T) {
	e, err := Find("multi_similarity")
	if err != nil {
		t.Fatal(err)
	}
	s := catalogSubject(t, e, nil)
	if err := checkTerms(s.build(), misplacedTerms{noting(s.build())}, s.inputs(7, 50)[0]); err == nil {
		t.Error("a wrong term was not seen")
	}
}
