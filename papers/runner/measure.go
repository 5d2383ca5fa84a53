package runner

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"winnow/datasets"
	"winnow/eval"
	"winnow/features"
	"winnow/filters"
	"winnow/internal/lookup"
	"winnow/papers/studies"
	"winnow/run"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/run/inspect"
	"winnow/run/measure"
)

// studyMeasure names the metric of the catalog, and the key in its result, for a study's measure.
type studyMeasure struct{ metric, key string }

// studyMeasures maps the names of measures, except the recalls r@K, to metrics.
var studyMeasures = map[string]studyMeasure{
	"p@1":         {"retrieval", "precision_at_1"},
	"r-precision": {"retrieval", "r_precision"},
	"map@r":       {"retrieval", "map_at_r"},
	"nmi":         {"clustering", "nmi_arithmetic"},
	"nmi-geo":     {"clustering", "nmi_geometric"},
	"ami":         {"clustering", "ami"},
	"f1":          {"clustering", "f1"},
	"ncm":         {"nearest-class-mean", "accuracy"},
	"probe":       {"linear-probe", "accuracy"},
}

// Measures of a run that are not metrics of vectors.
const (
	seconds        = "seconds"         // training time
	filterAccuracy = "filter-accuracy" // smoothed share of right labels among the kept, at the end
	auroc          = "auroc"           // AUROC of the audit of the training labels
)

// Measures of how well classes are separated.
const (
	meanSilhouette  = "silhouette"
	worstSilhouette = "worst silhouette" // the minimum of the classes' means
)

// probeEncoder is the accuracy of a linear probe on the head's input: the network's features or the stored features.
// SupContrast, the code of Khosla et al. (2020), probes these features, because it uses the projection only for
// training. The measure "probe" probes the head's output, as in the reproduced tables.
const probeEncoder = "probe-encoder"

// recallOf parses the name of a recall, r@K.
func recallOf(name string) (k int, ok bool) {
	text, ok := strings.CutPrefix(name, "r@")
	if !ok {
		return 0, false
	}
	k, err := strconv.Atoi(text)
	return k, err == nil && k > 0
}

// measureCell fills in the study's measures on the test split, or on queries against the gallery. Metrics that need
// fitting are fitted to the given training labels. before embeds images without the head.
func (r *reproduction) measureCell(ctx context.Context, o *studies.Outcome, embed, before embedder, t training) error {
	d, s := t.labels.data, t.from.store
	metrics := r.listNeededMetrics(d)
	if len(metrics) == 0 {
		return nil
	}
	stored, gallery, err := testOf(ctx, d, s)
	if err != nil {
		return err
	}
	test, err := embed(stored)
	if err != nil {
		return err
	}
	if slices.Contains(r.Study.Measures, meanSilhouette) {
		s, err := eval.NewSilhouettes(test, len(d.Classes))
		if err != nil {
			return fmt.Errorf("reproduce: %w", err)
		}
		o.Measures[meanSilhouette], o.Measures[worstSilhouette] = s.Mean, s.ByClass[max(s.Worst, 0)]
	}
	in := eval.Input{Test: test, Seed: o.Seed, MaxMem: eval.DefaultMaxMem / 4}
	if gallery != nil {
		g, err := embed(*gallery)
		if err != nil {
			return err
		}
		in.Gallery = &g
		if in.Same, err = lookup.SameImages(ctx, d, stored, *gallery); err != nil {
			return err
		}
	}
	if slices.Contains(r.Study.Measures, studies.Hits10) {
		if err := countNeighbourHits(ctx, o, d, folder.Asked[features.Set]{Query: test, Gallery: in.Gallery,
			Same: in.Same}); err != nil {
			return err
		}
	}
	var fit *features.Set
	fitted := func() (*features.Set, error) {
		if fit == nil {
			set, _, err := lookup.Split(ctx, d, s, datasets.Train)
			if err != nil {
				return nil, err
			}
			if set, err = embed(set.Labelled()); err != nil {
				return nil, err
			}
			fit = &set
		}
		return fit, nil
	}
	for _, metric := range metrics {
		if err := measureMetric(ctx, o, metric, in, fitted); err != nil {
			return err
		}
	}
	if !slices.Contains(r.Study.Measures, probeEncoder) {
		return nil
	}
	probe := studyMetric{name: studyMeasures["probe"].metric,
		names: map[string][]string{studyMeasures["probe"].key: {probeEncoder}}}
	in = eval.Input{Seed: o.Seed, MaxMem: in.MaxMem}
	if in.Test, err = before(stored); err != nil {
		return err
	}
	return measureMetric(ctx, o, probe, in, func() (*features.Set, error) {
		set, _, err := lookup.Split(ctx, d, s, datasets.Train)
		if err != nil {
			return nil, err
		}
		set, err = before(set.Labelled())
		return &set, err
	})
}

// countNeighbourHits counts the hits among the ten nearest images for all images whose class has another image.
func countNeighbourHits(ctx context.Context, o *studies.Outcome, d *datasets.Dataset,
	of folder.Asked[features.Set]) error {
	split := datasets.Test
	if of.Gallery != nil {
		split = datasets.Query
	}
	all, err := measure.ExamplesAmong(ctx, d, split, of, measure.ExampleOptions{
		K: 10, MaxMem: eval.DefaultMaxMem / 4,
	})
	if err != nil {
		return err
	}
	hits := 0
	for _, q := range all.Queries {
		hits += q.Hits
	}
	o.Measures[studies.Hits10] = float64(hits) / float64(len(all.Queries))
	return nil
}

// measureMetric computes a metric. If the metric needs fitting, it is fitted to the set that train returns.
func measureMetric(ctx context.Context, o *studies.Outcome, metric studyMetric, in eval.Input,
	train func() (*features.Set, error)) error {
	entry, err := eval.Find(metric.name)
	if err != nil {
		return err
	}
	values, err := entry.Resolve(metric.settings)
	if err != nil {
		return err
	}
	if entry.Train {
		if in.Train, err = train(); err != nil {
			return err
		}
	}
	found, err := entry.Measure(ctx, in, values)
	if err != nil {
		return fmt.Errorf("%s: %w", metric.name, err)
	}
	for _, v := range found.Shown() {
		for _, name := range metric.names[v.Key] {
			o.Measures[name] = v.Value
		}
	}
	return nil
}

// studyMetric is a metric with the parts of its result that a study needs.
type studyMetric struct {
	name     string
	settings map[string]string
	names    map[string][]string // maps keys of the metric's result to the study's measures
}

// listNeededMetrics returns the metrics that the study's measures need, each once. It returns none if the study records
// filters and the data have no test images.
func (r *reproduction) listNeededMetrics(d *datasets.Dataset) (all []studyMetric) {
	if r.watchesFilter() && len(d.Select(datasets.Test))+len(d.Select(datasets.Query)) == 0 {
		return nil
	}
	add := func(metric, key, name string) *studyMetric {
		i := slices.IndexFunc(all, func(m studyMetric) bool { return m.name == metric })
		if i < 0 {
			i = len(all)
			all = append(all, studyMetric{name: metric, settings: map[string]string{}, names: map[string][]string{}})
		}
		all[i].names[key] = append(all[i].names[key], name)
		return &all[i]
	}
	recalls := []string{"1"}
	for _, name := range r.Study.Measures {
		if k, ok := recallOf(name); ok {
			key := fmt.Sprintf("recall@%d", k)
			if k == 1 {
				key = studyMeasures["p@1"].key
			} else {
				recalls = append(recalls, strconv.Itoa(k))
			}
			add("retrieval", key, name)
		} else if m, ok := studyMeasures[name]; ok {
			add(m.metric, m.key, name)
		}
	}
	for i := range all {
		if all[i].name == "retrieval" {
			all[i].settings["k"] = strings.Join(recalls, ",")
		}
	}
	return all
}

// testOf returns the images to measure on: the test split, or queries with their gallery.
func testOf(ctx context.Context, d *datasets.Dataset, s *features.Store) (
	test features.Set, gallery *features.Set, err error) {
	if len(d.Select(datasets.Test)) == 0 && len(d.Select(datasets.Query)) > 0 {
		g, _, err := lookup.Split(ctx, d, s, datasets.Gallery)
		if err != nil {
			return test, nil, err
		}
		g = g.Labelled()
		test, _, err = lookup.Split(ctx, d, s, datasets.Query)
		return test.Labelled(), &g, err
	}
	if test, _, err = lookup.Split(ctx, d, s, datasets.Test); err != nil {
		return test, nil, err
	}
	if test = test.Labelled(); test.Len() == 0 {
		err = fmt.Errorf("the manifest has no labelled image in the split test or query to measure on; found splits %s",
			d.SplitNames())
	}
	return test, nil, err
}

// auditOutcome scores the given training labels in the final embedding and compares the scores with the true labels.
// It uses the run's scorer or, if that scorer needs more than a bank, vMF-Sim.
func auditOutcome(ctx context.Context, o *studies.Outcome, on *run.Training, out run.Outcome, t training) error {
	d := t.labels.data
	cfg := out.Filter
	if entry, err := filters.Find(cfg.Scorer); cfg.Scorer == config.NoFilter || err != nil || !entry.ByBankAlone() {
		cfg = filters.Default()
	}
	set, _, err := lookup.Split(ctx, d, t.from.store, datasets.Train)
	if err != nil {
		return err
	}
	if set, err = on.Now(ctx, set.Labelled()); err != nil {
		return err
	}
	found, err := inspect.Embedding(ctx, out.Head, set, d, cfg, eval.DefaultMaxMem/4)
	if err == nil && found.Detection != nil {
		o.Measures[auroc] = found.Detection.AUROC
	}
	return err
}
