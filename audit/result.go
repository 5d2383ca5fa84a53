package audit

import (
	"cmp"
	"context"
	"math"
	"slices"

	"winnow/audit/findings"
	"winnow/audit/judges"
	"winnow/audit/suspects"
	"winnow/eval"
	"winnow/features"
	"winnow/filters/leaveout"
	"winnow/filters/noiserate"
)

// Result is the outcome of an audit.
type Result struct {
	Scorer     string
	Why        string             // what the scorer chose for this set, and why; "" if it chooses nothing
	Blind      bool               // held-out labels are predicted no better than by chance, so no label is flagged
	Rate       float64            // share of the labels that is flagged
	Asked      bool               // the user set Rate
	Expected   float64            // expected number of wrong labels; NaN: unknown
	Alike      bool               // a test found uniform noise, which the interval of Noise assumes
	Suspects   []suspects.Suspect // all labelled rows, most suspect first; ties by row
	Unjudged   int                // suspects without images to compare with, such as single images of a class
	Noise      *noiserate.Estimate
	Classes    []Class // classes with at least two images, by number
	Groups     [][]int // rows of each group of duplicates; CopyGroup numbers groups from 1
	NoFindings error   // why Noise and Classes are missing; nil if they are not

	labels []int // labels of all rows
}

// Class holds the findings on one class.
type Class struct {
	findings.Class
	Purity    float64 // estimated share of right labels
	Low, High float64 // its 95 % interval
}

// findFindings estimates the noise rate and finds odd classes and duplicates in z. left holds the classes weighted by
// the scorer, or nil. The findings are added to the result r and to the given judgement.
func (r *Result) findFindings(ctx context.Context, z features.Set, left *leaveout.Set, said *judgement, o job) error {
	said.copies = o.copies.listOtherCopies(z)
	judged := left != nil // the labels were scored in these vectors
	if !judged {
		if left, r.NoFindings = leaveout.NewHeard(z, o.Classes, o.copies.voice); r.NoFindings != nil {
			return nil
		}
	}
	e, err := noiserate.FromSet(ctx, left.Plain())
	if err != nil {
		return err
	}
	classes, err := findings.Classes(ctx, left)
	if err != nil {
		return err
	}
	r.noteEstimate(&e, classes)
	flips := e.Rate
	switch knows := r.Scorer == judges.Combined || r.Scorer == judges.Fitted; {
	case r.Blind:
		e.Rate, e.Low, e.High = 0, 0, noiserate.MostOf(len(left.Classes))
	case knows && judged:
		r.replaceEstimate(&e, said.Opinion, z.Labels, left.Rows)
	}
	if o.Given != nil {
		e.Doubt = math.Max(e.Doubt, o.Given.Doubt)
	}
	r.widenInterval(&e, flips, said.uneven)
	if s := Named(r.Scorer); s.Probability && s.Kind == ByFilter {
		wrong := slices.Repeat([]float64{math.NaN()}, z.Len())
		for i, v := range e.Wrong {
			wrong[left.Rows[i]] = v
		}
		calibrateScores(said.Opinion, z.Labels, wrong)
	}
	return nil
}

// noteEstimate adds an estimate and classes to the result.
func (r *Result) noteEstimate(e *noiserate.Estimate, classes []findings.Class) {
	r.Noise = e
	for _, k := range classes {
		r.Classes = append(r.Classes, Class{Class: k, Purity: 1 - e.Classes[k.Class],
			Low: 1 - e.ClassHigh[k.Class], High: 1 - e.ClassLow[k.Class]})
	}
}

// judgement holds the scores and findings for the labelled rows of a set, in their order. Lists may be nil.
type judgement struct {
	judges.Opinion
	forGiven, forSuggested [][]eval.Neighbour // images with the given and the suggested label, nearest first
	copies                 [][]eval.Neighbour // near-duplicates with another label, nearest first
	fit                    []float64          // fit of each image; NaN: unknown
	uneven                 *float64           // [judges.Verdict.Uneven], for the vectors of the estimate; nil: unknown
	lone                   bool               // only one class has two images or more, so no label is scored
}

// listSuspects lists the suspects and flags labels. rows holds the positions of the scored rows in the set.
func (r *Result) listSuspects(rows []int, said judgement, o job) {
	having := o.copies.countHeard(pickRows(r.labels, rows))
	near := func(lists [][]eval.Neighbour, i int) []suspects.Near {
		if lists == nil {
			return []suspects.Near{}
		}
		out := make([]suspects.Near, len(lists[i]))
		for j, n := range lists[i] {
			out[j] = suspects.Near{Row: rows[n.Row], Similarity: roundCosine(n.Similarity)}
		}
		lists[i] = nil
		return out
	}
	certain := Named(r.Scorer).Probability
	r.Suspects = make([]suspects.Suspect, len(rows))
	for i, row := range rows {
		y := r.labels[row]
		s := suspects.Suspect{
			Row: row, GivenClass: y, SuggestedClass: said.Suggested[i],
			Score: said.Score[i], SuggestedScore: &said.SuggestedScore[i], Order: said.Order[i],
			SupportGiven: near(said.forGiven, i), SupportSuggested: near(said.forSuggested, i),
			Alone: having[y] < 2 || said.lone,
		}
		if s.Unjudged = s.Alone && o.Given == nil; s.Unjudged { // given scores need no other image
			r.Unjudged++
		}
		if certain && !s.Unjudged {
			s.GivenProbability = &said.Score[i]
		}
		if certain && !s.Alone {
			s.SuggestedProbability = s.SuggestedScore
		}
		if said.fit != nil && !math.IsNaN(said.fit[i]) {
			s.Fit, s.Outlier = &said.fit[i], said.fit[i] < findings.Outlying
		}
		copies := near(said.copies, i)
		s.Copies = make([]suspects.Copy, len(copies))
		for j, n := range copies {
			s.Copies[j] = suspects.Copy{Row: n.Row, Similarity: n.Similarity}
		}
		r.Suspects[i] = s
	}
	slices.SortStableFunc(r.Suspects, func(a, b suspects.Suspect) int { return cmp.Compare(a.Order, b.Order) })
	for i := range r.Suspects {
		r.Suspects[i].Rank = i + 1
	}
	r.callWrong(o)
	r.settleCopies(o.copies, rows)
}

// roundCosine returns a similarity with the precision of a float32.
func roundCosine(v float32) float64 { return math.Round(float64(v)*1e6) / 1e6 }

// Name adds paths and label names to the suspects, for files, and returns the suspects. paths are indexed by row of the
// set, classes by number.
func (r *Result) Name(paths, classes []string) []suspects.Suspect {
	for i := range r.Suspects {
		s := &r.Suspects[i]
		s.Path, s.Given, s.Suggested = paths[s.Row], classes[s.GivenClass], classes[s.SuggestedClass]
		for _, list := range [][]suspects.Near{s.SupportGiven, s.SupportSuggested} {
			for j := range list {
				list[j].Path = paths[list[j].Row]
			}
		}
		for j := range s.Copies {
			c := &s.Copies[j]
			c.Path, c.Label = paths[c.Row], classes[r.labels[c.Row]]
		}
	}
	return r.Suspects
}

// callWrong flags labels and computes how many labels are expected to be wrong. The suspects must be sorted.
//
// A label is flagged if its probability of being right is below 1/2 and either another class fits better or the image
// is an outlier. If scores are not probabilities, the number of flagged labels is at most the estimate, most suspect
// first. If the user sets a rate, the most suspect labels are flagged, regardless of their scores.
func (r *Result) callWrong(o job) {
	certain, judged := Named(r.Scorer).Probability, float64(len(r.Suspects)-r.Unjudged)
	called, most := 0, len(r.Suspects)
	r.Expected = math.NaN()
	switch {
	case certain:
		r.Expected = 0
		for i := range r.Suspects {
			if s := &r.Suspects[i]; !s.Unjudged && !r.Blind {
				r.Expected += 1 - s.Score
			}
		}
	case r.Noise != nil:
		r.Expected = r.Noise.Rate * judged
	}
	r.Asked = o.Rate != nil
	switch {
	case r.Asked:
		r.Rate = *o.Rate
		for i := range int(r.Rate * float64(len(r.Suspects))) {
			r.Suspects[i].Flagged = !r.Suspects[i].Unjudged
		}
		return
	case o.Given == nil && !certain:
		if most = 0; r.Noise != nil {
			most = int(r.Noise.Rate * float64(len(r.Suspects)))
		}
	}
	for i := range r.Suspects {
		s := &r.Suspects[i]
		likely := s.SuggestedClass != s.GivenClass || s.Outlier
		switch {
		case o.Given != nil:
			likely = o.Given.Wrong[s.Row]
		case certain:
			likely = likely && s.Score < 0.5 && !r.Blind
		}
		if s.Flagged = likely && called < most; s.Flagged {
			called++
		}
	}
	r.Rate = float64(called) / float64(len(r.Suspects))
}
