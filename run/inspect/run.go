package inspect

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"winnow/audit"
	"winnow/audit/judges"
	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/features"
	"winnow/filters"
	"winnow/head"
	"winnow/internal/catalog"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/run"
	"winnow/run/config"
	"winnow/run/folder"
)

// RunScorers lists the scorers that need a run, or nothing but its embedding and a filter.
func RunScorers() []string { return audit.Names(audit.ByFilter, audit.ByWeights) }

// Scorers lists the scorers that judge without the proxies of a loss.
func Scorers() []string {
	return audit.Names(audit.BySet, audit.ByHeads, audit.ByFilter, audit.ByWeights)
}

// ofRun judges the training labels of a run by the scorer asked for, else by the run's weights, filter or proxies.
func ofRun(ctx context.Context, r *folder.Run, o auditing) (*Report, error) {
	var a *Report
	whole := o // with the memory of all
	whitened, judged := 0, r.Head.Config().Out
	if !o.JustRank { // findings come from stored features
		whitened, judged = r.Store.Dim, max(judged, min(r.Store.Dim, head.Widest))
	}
	err := o.limitMemory(r.Given, whitened, 0, judged)
	if err != nil {
		return nil, err
	}
	by := audit.Named(o.Scorer)
	switch asked := o.Scorer != ""; {
	case !asked && r.Config.SelfPaced.On():
		by = audit.Named(audit.SelfPaced)
	case !asked:
		by = audit.Scorer{Kind: audit.ByFilter} // or its proxies
	}
	switch {
	case by.Kind == audit.BySet:
		a, err = byJudge(ctx, r, o)
	case by.Kind == audit.ByWeights:
		a, err = byWeights(ctx, r, by, o)
	default:
		a, err = byFilter(ctx, r, o, whole)
	}
	if err != nil {
		return nil, err
	}
	a.View, a.from, a.source, a.Reading = r.Look(), r.ManifestFile, r.Listed, r.Listed.Reading
	a.decided = r.Decided
	return a, nil
}

// openJudged joins the training images with a store of a network's features.
func (o auditing) openJudged(d *datasets.Dataset, store *features.Store) (judged, error) {
	set, left, err := lookup.Stored(d, store, datasets.Train)
	j := o.judge(d, d.Classes, left)
	j.set = set.Labelled()
	return j, err
}

// judge prepares the judgement of images of d, whose labels number classes.
func (o auditing) judge(d *datasets.Dataset, classes []string, left []lookup.LeftOut) judged {
	return judged{d: d, classes: classes, left: left, opts: o.Options.Options, Auditor: o.Auditor}
}

// byJudge judges the embedding of a run by a judge of whole sets.
func byJudge(ctx context.Context, r *folder.Run, o auditing) (*Report, error) {
	j, err := o.openJudged(o.asJudged(r.Given), r.Store)
	if err != nil {
		return nil, err
	}
	j.head, j.backbone = r.Head, r.TunedFile()
	if err := j.findIn(r, r.Store); err != nil {
		return nil, err
	}
	return j.reportJudged(ctx, o.Note)
}

// byFilter judges the embedding of a run by a filter's scorer, the run's own or another, or by the run's proxies. If no
// scorer is asked for and there are features of the images by a network that did not learn their labels, the default
// scorer judges these, and the filter counts beside it.
func byFilter(ctx context.Context, r *folder.Run, o, whole auditing) (*Report, error) {
	asked := o.Scorer != ""
	own, err := proxiesToJudgeBy(ctx, r, o)
	if err != nil {
		return nil, err
	}
	if own != nil && o.IncludeEval {
		return nil, hint.Unfit("include-eval", "the proxies of %s are for the classes it was trained on: name another "+
			"scorer", r.Dir)
	}
	d := o.asJudged(r.Given)
	filter, h, store, backbone := r.Config.Filter.In(1), r.Head, r.Store, r.TunedFile()
	if filter.Rate, err = wholeRate(r); err != nil {
		return nil, err
	}
	if own != nil { // for the classes of the training
		d, h, store = r.Manifest, own.head, own.store
		if o.Rate != nil {
			filter.Rate = *o.Rate
		}
		backbone = lastBackbone(r)
	} else if filter, err = filterFor(r.Config, filter.Rate, o); err != nil {
		return nil, err
	}
	o.Scorer, o.Filter, o.Rate = filter.Scorer, &filter, &filter.Rate
	j, err := o.openJudged(d, store)
	if err != nil {
		return nil, err
	}
	j.head, j.backbone = h, backbone
	if own != nil {
		j.classes, j.Proxies = own.classes, own.param
		j.set.Labels = own.numberAsTrained(j.set.Labels)
	}
	if !asked && !o.JustRank {
		if frozen, err := r.FrozenStore(); err == nil {
			if _, ok := j.hasAllFeatures(frozen); ok {
				return besideStored(ctx, j, frozen, d, whole)
			}
		}
	}
	if err := j.findIn(r, store); err != nil {
		return nil, err
	}
	return j.reportJudged(ctx, o.Note)
}

// besideStored judges the stored features of a run's images by the default scorer, weighed with j, the judgement of the
// run's embedding.
func besideStored(ctx context.Context, j judged, stored *features.Store, d *datasets.Dataset,
	o auditing) (*Report, error) {
	j.opts.Classes, j.opts.JustRank = len(j.classes), true
	z, err := j.embedThroughHead(ctx, j.set)
	if err != nil {
		return nil, err
	}
	ranked, err := j.Run(ctx, z, j.opts)
	if err != nil {
		return nil, err
	}
	o.beside = &beside{name: "the run's " + ranked.Scorer, of: make(map[int]suspects.Suspect, len(ranked.Suspects))}
	for _, s := range ranked.Suspects {
		if !s.Unjudged {
			s.Suggested = j.classes[s.SuggestedClass]
			o.beside.of[z.IDs[s.Row]] = s
		}
	}
	a, err := o.judgeStored(ctx, d, stored)
	if err != nil {
		return nil, err
	}
	a.Backbone = j.backbone
	return a, nil
}

// beside is a judgement of images by their position in the dataset.
type beside struct {
	name string
	of   map[int]suspects.Suspect
}

// selectJudgementOn returns the judgement as an audit of the images ids takes it, whose labels number classes.
func (b *beside) selectJudgementOn(ids []int, classes []string) *audit.Beside {
	n := len(ids)
	out := audit.Beside{Name: b.name, Opinion: judges.Opinion{Order: make([]float64, n), Score: make([]float64, n),
		Suggested: make([]int, n), SuggestedScore: make([]float64, n)}}
	for i, id := range ids {
		s, ok := b.of[id]
		if out.Order[i] = s.Order; !ok {
			out.Order[i] = math.NaN()
			continue
		}
		out.Score[i], out.Suggested[i] = s.Score, slices.Index(classes, s.Suggested)
		if out.Suggested[i] >= 0 {
			out.SuggestedScore[i] = *s.SuggestedScore
		}
	}
	return &out
}

// hasAllFeatures reports whether a store holds the features of all judged images; rows are theirs.
func (j *judged) hasAllFeatures(s *features.Store) (rows []int, ok bool) {
	rows, _, _, err := lookup.Rows(j.d, s, j.set.IDs, "")
	return rows, err == nil && len(rows) == j.set.Len()
}

// filterFor returns the run's filter at a rate, or vMF-Sim if the run's filter cannot judge a set by the set alone.
func filterFor(cfg config.Run, rate float64, o auditing) (filters.Config, error) {
	f := cfg.Filter.In(1)
	f.Rate = rate
	entry, err := filters.Find(f.Scorer)
	if err != nil || !entry.ByBankAlone() {
		if o.Scorer == "" && cfg.Method != config.Metric {
			o.Note("the run's method, %s, has no filter: judging its embedding with vmf", run.MethodTitle(cfg.Method))
		} else if o.Scorer == "" {
			o.Note("the run's filter is %s, which cannot judge this set: judging with vmf", f.Scorer)
		}
		f.Scorer, f.Threshold = filters.Default().Scorer, filters.Default().Threshold
	}
	if o.Scorer != "" {
		f.Scorer = o.Scorer
		if entry, err = filters.Find(f.Scorer); err == nil && entry.NeedsProxy {
			return f, hint.Unfit("scorer", "%s judges by the proxies of a run with the filter %s, which this run does "+
				"not have: expected one of %s", f.Scorer, f.Scorer, strings.Join(Scorers(), ", "))
		} else if err != nil || !entry.ByBankAlone() {
			return f, hint.Unfit("scorer", "%q cannot audit%s, expected one of %s", f.Scorer,
				catalog.Ask(f.Scorer, Scorers()), strings.Join(Scorers(), ", "))
		}
		f.Threshold = filters.ThresholdSTRM
	}
	if o.Rate != nil {
		f.Rate = *o.Rate
	}
	return f, f.Validate()
}

// wholeRate returns the share of wrong labels among all labels of a run: those flagged before the training, and of
// the others the noise rate of the run.
func wholeRate(r *folder.Run) (float64, error) {
	facts, err := folder.ReadFacts(r.Dir)
	return facts.WholeRate(ownRate(r.Config)), err
}

// ownRate returns the noise rate of a run, a share of the labels that it was trained on.
func ownRate(cfg config.Run) float64 {
	if cfg.HasPeers() {
		return cfg.Peers.Rate.Share
	}
	return cfg.Filter.In(1).Rate
}

// findIn makes the audit find noise rate, classes, outliers and copies in stored features of the judged images, not
// in the embedding that the run learnt from their labels: there, wrong labels have been drawn to their classes and
// classes to each other, so that too few labels look wrong and too many classes alike. For the same reason it
// prefers the features of the backbone before the run, if they are stored, to those of store.
func (j *judged) findIn(r *folder.Run, store *features.Store) error {
	if j.opts.JustRank {
		return nil
	}
	stores := []*features.Store{store}
	if r.Tuned != nil {
		if frozen, err := r.FrozenStore(); err == nil {
			stores = []*features.Store{frozen, store}
		}
	}
	for _, s := range stores {
		rows, ok := j.hasAllFeatures(s)
		if !ok {
			continue
		}
		stored, err := features.NewStored(s, rows, j.set.Labels, j.set.IDs)
		j.Findings = stored
		return err
	}
	return nil
}

// openLast joins the training images with the last state of the training.
func (o auditing) openLast(ctx context.Context, r *folder.Run) (judged, error) {
	h, store, err := r.LastState(ctx)
	if err != nil {
		return judged{}, err
	}
	j, err := o.openJudged(r.Manifest, store)
	if err != nil {
		return j, err
	}
	j.head = h
	j.backbone = lastBackbone(r)
	return j, j.leaveScreened(r.Dir)
}

// leaveScreened leaves out the images whose labels were flagged before the training, which did not use them.
func (j *judged) leaveScreened(dir string) error {
	list, err := folder.ReadScreening(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	out := map[string]bool{}
	for _, s := range list {
		out[s.Path] = true
		j.left = append(j.left, lookup.LeftOut{Path: s.Path,
			Reason: "its label was flagged before the training (" + folder.ScreenedFile + ")"})
	}
	var rows []int
	for i, id := range j.set.IDs {
		if !out[j.d.Samples[id].Path] {
			rows = append(rows, i)
		}
	}
	j.set = j.set.Rows(rows)
	return nil
}

// lastBackbone returns the file of the last network of a fine-tuning, "" if there was none.
func lastBackbone(r *folder.Run) string {
	if r.Tuned == nil {
		return ""
	}
	return filepath.Join(r.Dir, folder.LastBackboneFile)
}
