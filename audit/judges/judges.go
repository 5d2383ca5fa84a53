// Package judges says of every given label of a set, at once, how right it looks, each image left out of its own
// judgement, and which label fits better. The set's vectors are stored features, whitened, or the
// embedding of a run.
//
// [Catalog] lists the judges: winnow's own, and what others do with the same vectors, so that they can be compared in
// the same run. What an image is judged by holds neither its own vector nor its own label: centres leave it out of
// every sum it is in, neighbours are others, a probe or a channel of mistakes is learned from the other folds. An
// image has had a part in the few numbers that are chosen for the whole set. Two judges are otherwise, as their authors
// have them: simifeat counts an image among its own neighbours, and aum watches how a head learns the label it judges.
//
// The package sees given labels only. It imports eval, features and filters/leaveout, and no dataset.
package judges

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"winnow/features"
	"winnow/filters/leaveout"
	"winnow/internal/catalog"
)

// Judge is one way, and where it comes from.
type Judge struct {
	Name, Title string
	Aliases     []string // names it had
	Help        string   // one line
	Source      string
	Baseline    bool // what others do
	Probability bool // scores are probabilities that a label is right, fit to be added up

	judge func(*bench) error
}

// Default is the judge taken where none is named: the best of them, or nearly, whatever the set and the kind of mistakes
// (experiments/audit). Fitted is that of those that train nothing.
const (
	Combined = "combined"
	Fitted   = "fitted"
	Centres  = "centres"
	Default  = Combined
)

// The judges by a probe, whose probabilities out of sample are computed once for all of them.
const (
	SelfConfidence = "self-confidence"
	Margin         = "margin"
	Confident      = "confident"
)

// Catalog lists the judges, in the order they are shown.
var Catalog = []Judge{
	{
		Name: Combined, Title: "Centres and heads", Source: "ours", Probability: true,
		Help:  "as fitted, and by heads trained on the other folds, weighed by the likelihood of labels left out; half a minute for 6,000 images",
		judge: func(b *bench) error { return b.combined() },
	},
	{
		Name: Fitted, Title: "Fitted centres", Source: "ours", Probability: true,
		Help:  "as centres; whitening and which classes are mistaken for which are fitted, by the likelihood of labels left out",
		judge: func(b *bench) error { return b.fitted() },
	},
	{
		Name: Centres, Title: "Class centres", Source: "ours", Probability: true,
		Help:  "cosine to the given class's centre against those of all others",
		judge: func(b *bench) error { return b.centres() },
	},
	{
		Name: "1nn", Title: "Nearest neighbour", Source: "folklore", Baseline: true,
		Help:  "whether the nearest other image has the same label; the nearer, the surer",
		judge: func(b *bench) error { return b.nearest() },
	},
	{
		Name: "knn", Title: "Vote of neighbours", Source: "Bahri et al., ICML 2020; Zhu et al., ICML 2022", Baseline: true,
		Help:  "share of the nearest images' cosines that speaks for the label",
		judge: func(b *bench) error { return b.vote() },
	},
	{
		Name: SelfConfidence, Aliases: []string{"probe"}, Title: "Self-confidence of a probe", Source: "Northcutt et al., JAIR 2021", Baseline: true,
		Help:  "probability of the label by a probe: softmax regression fitted on the other folds",
		judge: func(b *bench) error { return b.selfConfidence() },
	},
	{
		Name: Margin, Title: "Margin of a probe", Source: "Northcutt et al., JAIR 2021", Baseline: true,
		Help:  "the same probe's probability of the label less that of the likeliest other class",
		judge: func(b *bench) error { return b.margin(b.likeliest) },
	},
	{
		Name: Confident, Title: "Confident learning", Source: "Northcutt et al., JAIR 2021, section 3", Baseline: true,
		Help:  "ranks exactly as margin does; suggests by the confident joint",
		judge: func(b *bench) error { return b.margin(b.confident) },
	},
	{
		Name: "simifeat-v", Title: "SimiFeat, votes", Source: "Zhu et al., ICML 2022", Baseline: true,
		Help:  "how often another label has more of the nearest images, over random subsets; below 0.5: wrong",
		judge: func(b *bench) error { return b.simifeat(false) },
	},
	{
		Name: "simifeat-r", Title: "SimiFeat, ranks", Source: "Zhu et al., ICML 2022; Zhu et al., ICML 2021", Baseline: true,
		Help:  "as simifeat-v; flags those of a class that agree least, as many as neighbours' agreement says are wrong",
		judge: func(b *bench) error { return b.simifeat(true) },
	},
	{
		Name: "aum", Title: "Area under the margin", Source: "Pleiss et al., NeurIPS 2020", Baseline: true,
		Help:  "mean margin of the label while a linear head learns all labels; below 0.5, the bar of made-up labels: wrong",
		judge: func(b *bench) error { return b.aum() },
	},
}

// Names lists them.
func Names() []string {
	var names []string
	for _, j := range Catalog {
		names = append(names, j.Name)
	}
	return names
}

// Options are a judge's settings; the zero value takes the defaults but for Rand, which the probes need.
type Options struct {
	// Heads calls do with every row that is judged, in any order, and what heads trained on neither the row nor its label
	// make of it: P(k|x) of the classes that two rows or more share, rising. Of heads trained on several partings it does so for
	// each, every row as often: their mean log probability counts. combined needs it.
	Heads func(do func(row int, p []float64)) error

	Neighbours int        // of knn's vote; of simifeat, the image itself counted; default 10
	Folds      int        // of the probes; default 5
	MaxMem     int64      // of similarities, bytes
	Rand       *rand.Rand // parts the images into folds
	Shared     *Shared    // what judges who were asked before found out about the same labels; nil: nothing
}

// Opinion is what is said of the labels of a set, an entry for each row.
type Opinion struct {
	Order          []float64 // the lowest is most suspect; as Score, without ties where a probability rounds to 0 or 1 (its log odds)
	Score          []float64 // of the given label, the image left out; higher: cleaner
	Suggested      []int     // the class that scores best; the given one if none beats it
	SuggestedScore []float64
}

// Undecided returns the opinion of labels of which nothing is known.
func Undecided(labels []int) Opinion {
	n := len(labels)
	o := Opinion{Order: make([]float64, n), Score: make([]float64, n), Suggested: slices.Clone(labels), SuggestedScore: make([]float64, n)}
	for i := range n {
		o.Order[i], o.Score[i], o.SuggestedScore[i] = math.Inf(1), 1, 1
	}
	return o
}

// Part gives every row with a column a fold, -1 to the others. The rows of a column go to the folds in turn, so that
// no two folds differ by more than one row of it, and a column of two rows or more is never in one fold alone.
func Part(column []int, columns, folds int, rng *rand.Rand) []int {
	members, fold := make([][]int, columns), make([]int, len(column))
	for i, k := range column {
		fold[i] = -1
		if k >= 0 {
			members[k] = append(members[k], i)
		}
	}
	next := 0
	for _, list := range members {
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		for _, i := range list {
			fold[i] = next % folds
			next++
		}
	}
	return fold
}

// Verdict is what a judge says, an entry for each row of the set. A row without a label, or whose label no other
// shares, is not judged: Score 1, Order +Inf, Suggested its own.
type Verdict struct {
	Opinion               // the lowest Order is most suspect; scores are probabilities, or as the judge's help says
	Classes *leaveout.Set // the classes as the judge left them
	Why     string        // what the judge chose, and why; empty: there was nothing to choose
	Blind   bool          // fitted and combined foretell labels left out no better than by chance: scores mean nothing
}

// Ask asks the judge of a name about z, whose labels are 0 … classes-1 or negative for none. Rows need no unit length.
func Ask(ctx context.Context, z features.Set, classes int, name string, opts Options) (Verdict, error) {
	if opts.Neighbours < 1 {
		opts.Neighbours = 10
	}
	if opts.Folds < 2 {
		opts.Folds = 5
	}
	if opts.Shared == nil {
		opts.Shared = new(Shared)
	}
	i := slices.Index(Names(), name)
	if i < 0 {
		return Verdict{}, catalog.Check("judges: judge", name, Names()...)
	}
	s, err := leaveout.New(z, classes)
	if err != nil {
		return Verdict{}, fmt.Errorf("judges: %w", err)
	}
	b := &bench{ctx: ctx, s: s, opts: opts, once: opts.Shared, v: Verdict{Classes: s, Opinion: Undecided(z.Labels)}}
	err = Catalog[i].judge(b)
	return b.v, err
}

// bench is where a judge works: images are counted as in s, classes by their columns.
type bench struct {
	ctx  context.Context
	s    *leaveout.Set
	opts Options
	once *Shared
	v    Verdict
	gain float64 // of the best field over chance, in nats of all labels together
}

// say notes the verdict on image i: the order and score of its label, and the column that fits best with its score.
func (b *bench) say(i int, order, score float64, best int, bestScore float64) {
	row := b.s.Rows[i]
	b.v.Order[row], b.v.Score[row] = order, score
	b.v.Suggested[row], b.v.SuggestedScore[row] = b.s.Classes[best], bestScore
}

// sayRow notes a verdict from a score for each column: order ranks the label, of equal columns the given one is best.
func (b *bench) sayRow(i, y int, order float64, row []float64) {
	best := y
	for k, v := range row {
		if v > row[best] {
			best = k
		}
	}
	b.say(i, order, row[y], best, row[best])
}
