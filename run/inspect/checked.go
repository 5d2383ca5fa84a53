package inspect

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit"
	"winnow/audit/learn"
	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/features"
	"winnow/internal/text"
	"winnow/run/folder"
)

// Decided counts the audited images whose labels people checked.
type Decided struct {
	File  string `json:"file"`
	Right int    `json:"right"`
	Wrong int    `json:"wrong"`
	None  int    `json:"no_class"` // part of Wrong: images that belong to no class
	// Changed counts images whose file changed since the decision; the decision is ignored.
	Changed int `json:"picture_changed,omitempty"`
	Stale   int `json:"label_changed"` // images whose given label changed since the decision, which is ignored
	Gone    int `json:"not_judged"`    // images with a decision that this audit does not cover
	Open    int `json:"open"`          // images without an outcome: reviewers were unsure, or disagree
	// Random holds the checks of images drawn at random; nil if the decisions give no estimate of the noise rate.
	Random *Random `json:"random_checks"`
	Trust  float64 `json:"learned"` // weight of the evidence learned from decisions relative to the audit's, 0 to 1
}

// Random counts checks of images drawn at random, and holds the noise rate estimated from them.
type Random struct {
	Images int     `json:"images"`
	Wrong  int     `json:"wrong"`
	Rate   float64 `json:"rate"` // share of wrong labels; Low and High are its 95 % interval
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	// Still is the interval of labels that are still wrong. Rate, Low and High count checked images by their present
	// label: where the checked errors are fixed, these images no longer represent the others.
	Still Remaining `json:"still_wrong"`
}

// Remaining is the 95 % interval of the labels that are still wrong: the errors that random checks found in all labels,
// as given when people checked them, without the errors fixed since.
type Remaining struct {
	Labels int `json:"labels"`
	Fixed  int `json:"fixed"` // labels decided to be wrong that now are as decided
	Low    int `json:"low"`
	High   int `json:"high"`
}

// learnFromDecisions takes people's decisions about some labels as certain, and scores the other labels again by the
// audit's evidence and the decisions about similar images ([learn.Learner]). A checked label is never flagged.
func (a *Report) learnFromDecisions(ctx context.Context, note func(string, ...any)) error {
	m, err := a.checks.Match(a.data)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	if len(a.Images) == 0 {
		return nil
	}
	c := &Decided{File: a.checks.File, Stale: m.Stale, Gone: m.Gone, Open: a.checks.Open, Changed: a.checks.Changed}
	classes := a.numberLabels(m.At)
	var taught []learn.Decision
	for i := range a.Images {
		e := &a.Images[i]
		k, ok := m.At[a.ids[e.Row]]
		if !ok {
			continue
		}
		d := learn.Decision{Image: i, Verdict: learn.Right, Label: learn.None}
		if e.Checked = suspects.Kept; k.Right {
			c.Right++
		} else {
			e.Checked, d.Verdict = suspects.Wrong, learn.Wrong
			if c.Wrong++; k.Label == "" {
				c.None++
			} else {
				d.Label = classes[k.Label]
			}
		}
		taught = append(taught, d)
	}
	c.Gone += len(m.At) - len(taught)
	a.Checked = c
	if len(taught) == 0 {
		note("%s: no decision matches a label of this audit", c.File)
		return nil
	}
	x, err := a.readFirstVectors(ctx)
	if err != nil {
		return err
	}
	l, err := learn.New(ctx, learn.EvidenceOf(a.Images, classes, x))
	if err != nil {
		return err
	}
	s := l.Learn(taught)
	c.Trust = s.Trust
	names := make([]string, len(classes))
	for name, i := range classes {
		names[i] = name
	}
	c.Random = a.findRandomChecks(m.At)
	a.rejudgeLabels(s, names)
	a.settleChecked()
	a.recountWrong(s)
	return a.measureAudit(a.data)
}

// numberLabels assigns a number to every given, suggested or decided label.
func (a *Report) numberLabels(at map[int]datasets.Checked) map[string]int {
	classes := map[string]int{}
	add := func(name string) {
		if _, ok := classes[name]; !ok {
			classes[name] = len(classes)
		}
	}
	for i := range a.Images {
		add(a.Images[i].Given)
		add(a.Images[i].Suggested)
	}
	for i := range a.Images {
		if k := at[a.ids[a.Images[i].Row]]; k.Label != "" {
			add(k.Label)
		}
	}
	return classes
}

// mostTaught is the largest number of float32 values that learning keeps in memory: 1 GiB.
const mostTaught = 1 << 28

// readFirstVectors returns the stored features of the most suspect images, one row each, as many as mostTaught allows.
// It returns no rows without a feature store, or if the store lacks one of these images.
func (a *Report) readFirstVectors(ctx context.Context) (x blas32.General, err error) {
	if a.store == nil {
		return x, nil
	}
	var paths []string
	for _, e := range a.Images[:min(len(a.Images), mostTaught/a.store.Dim)] {
		paths = append(paths, e.Path)
	}
	rows, missing := a.store.Lookup(paths)
	if len(missing) > 0 {
		return x, nil
	}
	return a.store.Read(ctx, rows)
}

// rejudgeLabels replaces the scores and suggestions by those learned from decisions, and sorts the images by them:
// labels that people found wrong come first, labels that they found right come last.
func (a *Report) rejudgeLabels(s *learn.State, names []string) {
	called := a.CalledWrong
	probable := audit.Named(a.Scorer).Probability
	wrong := make(map[int]float64, len(a.Images)) // by row
	for i := range a.Images {
		e := &a.Images[i]
		wrong[e.Row] = s.Wrong[i]
		if e.Unjudged && e.Checked == "" { // decisions add no evidence for an image that could not be scored
			continue
		}
		if a.Blind && e.Checked == "" {
			continue
		}
		right, was := 1-s.Wrong[i], e.SuggestedProbability
		if suggested := names[s.Suggested[i]]; e.Suggested != suggested {
			e.Suggested, e.SupportSuggested = suggested, []suspects.Near{}
			e.SuggestedScore, e.SuggestedProbability = nil, nil
		} else if e.Suggested != e.Given && was != nil && e.GivenProbability != nil {
			p := (1 - right) * math.Min(*was/math.Max(1-*e.GivenProbability, 1e-9), 1)
			e.SuggestedScore, e.SuggestedProbability = &p, &p
		}
		if e.Checked == suspects.Wrong && e.Suggested != e.Given {
			one := 1.0
			e.SuggestedProbability = &one
		}
		e.GivenProbability = &right
		if e.Suggested == e.Given {
			e.SuggestedProbability = &right
		}
		if probable {
			e.Score, e.SuggestedScore = right, e.SuggestedProbability
		}
		e.Order = -learnedOdds(s.Wrong[i])
	}
	place := func(e suspects.Suspect) int {
		return map[suspects.Verdict]int{suspects.Wrong: 0, "": 1, suspects.Kept: 2}[e.Checked]
	}
	if !a.Blind {
		slices.SortStableFunc(a.Images, func(x, y suspects.Suspect) int {
			return cmp.Or(cmp.Compare(place(x), place(y)), cmp.Compare(wrong[y.Row], wrong[x.Row]),
				cmp.Compare(x.Rank, y.Rank))
		})
	} else {
		slices.SortStableFunc(a.Images, func(x, y suspects.Suspect) int {
			return cmp.Or(cmp.Compare(place(x), place(y)), cmp.Compare(x.Rank, y.Rank))
		})
	}
	asked := int(a.Rate * float64(len(a.Images)))
	for i := range a.Images {
		e := &a.Images[i]
		e.Rank = i + 1
		switch {
		case e.Checked != "":
			e.Flagged = false
		case a.Asked:
			e.Flagged = i < asked
		case e.Unjudged || a.Blind || e.CopyVerdict == suspects.Look:
			e.Flagged = false
		case probable || called == 0:
			e.Flagged = wrong[e.Row] > 0.5 && (e.Suggested != e.Given || e.Outlier)
		default: // without probabilities, checked images take places among the first called
			e.Flagged = i < called && (e.Suggested != e.Given || e.Outlier)
		}
	}
}

// learnedOdds returns the log odds of p: ±Inf for the certain probabilities 0 and 1.
func learnedOdds(p float64) float64 { return math.Log(p) - math.Log1p(-p) }

// settleChecked suggests the right label of a checked image for its duplicates, which show the same content. If people
// chose different labels within a group of duplicates, the other images of the group keep their suggestions.
func (a *Report) settleChecked() {
	label, vary := map[int]string{}, map[int]bool{}
	for i := range a.Images {
		e := &a.Images[i]
		if e.Checked == "" {
			continue
		}
		is := e.Suggested // the given label if people found it wrong without naming another: then known is false
		known := e.Checked == suspects.Kept || is != e.Given
		if e.CopyVerdict != "" {
			e.CopyVerdict = e.Checked
		}
		if g := e.CopyGroup; g > 0 && known {
			if was, ok := label[g]; ok && was != is {
				vary[g] = true
			}
			label[g] = is
		}
	}
	for i := range a.Images {
		e := &a.Images[i]
		is, ok := label[e.CopyGroup]
		if e.Checked != "" || e.CopyGroup == 0 || !ok || vary[e.CopyGroup] || e.CopyVerdict == "" && e.Given == is {
			continue
		}
		p := e.GivenProbability
		if e.CopyVerdict = suspects.Kept; e.Given != is {
			e.CopyVerdict = suspects.Wrong
			if e.Suggested != is {
				p = nil
			} else {
				p = e.SuggestedProbability
			}
		}
		e.Flagged, e.Suggested, e.SuggestedProbability, e.SuggestedScore = e.Given != is, is, p, p
	}
}

// findRandomChecks counts the decisions about the images that winnow studio --check draws: the [Checked] images whose
// paths have the smallest SHA-256 sums. It returns nil if one of these images has no decision.
func (a *Report) findRandomChecks(at map[int]datasets.Checked) *Random {
	drawn, sums := features.AllRows(len(a.Images)), make([][sha256.Size]byte, len(a.Images))
	for i := range a.Images {
		sums[i] = sha256.Sum256([]byte(a.Images[i].Path))
	}
	slices.SortFunc(drawn, func(i, j int) int { return bytes.Compare(sums[i][:], sums[j][:]) })
	r, given := &Random{}, 0 // labels of drawn images that were wrong when they were checked
	for _, i := range drawn[:min(Checked, len(drawn))] {
		k, ok := at[a.ids[a.Images[i].Row]]
		if !ok {
			return nil
		}
		if r.Images++; !k.Right {
			r.Wrong++
		}
		if !a.checks.By[a.Images[i].Path].Right {
			given++
		}
	}
	share := learn.Share(r.Wrong, r.Images)
	r.Rate, r.Low, r.High = share.Estimate, share.Low, share.High
	n, open, s := float64(len(a.Images)), 0, &r.Still
	s.Labels = len(a.Images)
	for id, k := range at {
		if !k.Right {
			open++
		} else if !a.checks.By[a.data.Samples[id].Path].Right {
			s.Fixed++
		}
	}
	share = learn.Share(given, r.Images)
	s.Low = max(int(share.Low*n)-s.Fixed, open)
	s.High = max(int(math.Ceil(share.High*n))-s.Fixed, s.Low)
	return r
}

// recountWrong counts the flagged labels again, and corrects the estimated noise rate by the decisions.
func (a *Report) recountWrong(s *learn.State) {
	c, n := a.Checked, float64(len(a.Images))
	a.CalledWrong, a.Unjudged = 0, 0
	for i := range a.Images {
		e := &a.Images[i]
		if e.Unjudged = e.Unjudged && e.Checked == ""; e.Unjudged {
			a.Unjudged++
		}
		if e.Flagged {
			a.CalledWrong++
		}
	}
	if !a.Asked {
		a.Rate = float64(a.CalledWrong) / n
	}
	total := 0.0
	for _, p := range s.Wrong {
		total += p
	}
	if !a.Blind {
		a.ExpectedWrong = &total
	}
	least, most := float64(c.Wrong)/n, 1-float64(c.Right)/n // bounds of the noise rate that the decisions prove
	if r := c.Random; r != nil {
		a.Noise = &folder.NoiseRate{Method: "random checks", Rate: r.Rate, Low: r.Low, High: r.High, Judged: r.Images}
		a.Alike = false
	} else if a.Noise != nil && a.ExpectedWrong != nil && audit.Named(a.Scorer).Probability {
		a.Noise.Rate = total / n
		a.Noise.Low, a.Noise.High = min(a.Noise.Low, a.Noise.Rate), max(a.Noise.High, a.Noise.Rate)
	}
	if a.Noise != nil {
		within := func(v float64) float64 { return min(max(v, least), most) }
		a.Noise.Rate, a.Noise.Low, a.Noise.High = within(a.Noise.Rate), within(a.Noise.Low), within(a.Noise.High)
	}
}

// Sentences returns sentences that describe the decisions and how the audit uses them.
func (c *Decided) Sentences() (list []string) {
	n := c.Right + c.Wrong
	if n == 0 {
		list = append(list, fmt.Sprintf("Checked: none of the audited labels (%s).", text.Line(c.File)))
	} else {
		said := fmt.Sprintf("Checked: %s, %d of them wrong (%s); they are not flagged again, and they help to "+
			"score the others", text.Plural(n, "label"), c.Wrong, text.Line(c.File))
		list = append(list, said+".")
		if c.Random == nil {
			list = append(list, fmt.Sprintf("Not all checked images were drawn at random: they improve the scores, "+
				"but give no estimate of how many other labels are wrong; checks of %d random images would.", Checked))
		}
	}
	if c.Stale > 0 {
		list = append(list, fmt.Sprintf("Scored without the decision: %s changed after people decided.",
			text.Plural(c.Stale, "label")))
	}
	if c.Changed > 0 {
		list = append(list, fmt.Sprintf("Scored without the decision: %s changed after people decided.",
			text.Plural(c.Changed, "image")))
	}
	if c.Gone > 0 {
		list = append(list, fmt.Sprintf("Not used: decisions about %s outside this audit.",
			text.Plural(c.Gone, "image")))
	}
	return list
}
