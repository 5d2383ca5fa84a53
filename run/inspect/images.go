package inspect

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"winnow/audit"
	"winnow/backbone"
	"winnow/datasets"
	"winnow/datasets/imageroot"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/internal/text"
	"winnow/run/extraction"
)

// ofImages judges the labels of images of all splits, or of those asked for. It computes the features that the store
// lacks, always of all images, so that one store serves every choice of splits.
func ofImages(ctx context.Context, in Input, o auditing) (*Report, error) {
	in.Images = in.Images.Clean()
	layout, err := datasets.LayoutOf(ctx, in.Images)
	if err != nil && in.Images.IsRemote() {
		return nil, fmt.Errorf("audit: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("audit: %s: there is no such run folder, folder of images, .zip file or manifest",
			in.Images)
	}
	opts := datasets.ReadOptions{Names: in.Columns, Root: in.Root, Note: o.Note}
	if layout == datasets.Shards || layout == datasets.Folder { // may be large; a pipe is read more than once below
		opts.Once = ctx
	}
	whole, err := datasets.Read(in.Images, opts)
	if err != nil {
		return nil, err
	}
	if err := o.nameClasses(in, whole); err != nil {
		return nil, err
	}
	if root := imageroot.Resolve(in.Root, in.Images); layout == datasets.File && !root.IsRemote() {
		files, err := imageroot.Open(ctx, root)
		if err == nil {
			err = whole.CheckList(ctx, files)
		}
		if err != nil {
			return nil, fmt.Errorf("audit: %s: %w", in.Images, err)
		}
	}
	d, err := in.selectToJudge(whole)
	if err != nil {
		return nil, err
	}
	looks, why, err := in.findExtractions(ctx, whole, o.Host.Host)
	if err != nil {
		return nil, err
	}
	if o.Tuning.Weights != "" {
		if err := o.tuneImages(looks, imageroot.Resolve(in.Root, in.Images).String(), whole); err != nil {
			return nil, err
		}
	}
	dim, known := 0, true
	o.Names = nil
	for _, e := range looks {
		e.Memory = o.MaxMem
		dim, known = dim+e.Cut.Dim, known && e.Cut.Dim > 0
		o.Names = append(o.Names, e.Model.Name)
	}
	n := len(d.Select(datasets.Train))
	apart := o.judgesSampled(n, len(d.Classes), len(looks))
	if known { // refuse too little memory before reading the images
		ahead := o
		ahead.Note = func(string, ...any) {}
		if apart {
			err = ahead.withinApart(n, dim, len(d.Classes), n)
		} else {
			err = ahead.fitMemory(d, dim)
		}
		if err != nil {
			return nil, err
		}
	}
	names := strings.Join(o.Names, ", ")
	o.Note("%d images in %d classes, embedded with %s, %s", len(whole.Samples), len(whole.Classes), names, why)
	expected, err := o.expectSteps(ctx, looks, n, dim)
	if err != nil {
		return nil, err
	}
	o.Stage("extract", expected, o.guessDuration(n, dim))
	stores, err := extractStores(ctx, looks, o)
	if err != nil {
		return nil, err
	}
	began, judging := time.Now(), o.guessDuration(n, countImageValues(stores))
	o.Note("step 2 of 2: judge %s, about %s%s", text.Plural(n, "image"), text.About(judging), o.describeUncounted())
	o.Stage("judge", judging, 0)
	o.pictures = looks[0].Root
	measured, err := looks[0].Looks(ctx, stores[0], nil)
	if err != nil {
		return nil, err
	}
	o.looks = measured
	if len(measured) < len(whole.Samples) { // some images are in several splits
		at := make(map[string]int, len(measured))
		for i, path := range looks[0].Paths {
			at[path] = i
		}
		o.looks = make([]backbone.Look, len(whole.Samples))
		for i := range o.looks {
			o.looks[i] = measured[at[whole.Samples[i].Path]]
		}
	}
	var a *Report
	if apart {
		a, err = bySample(ctx, Input{Features: stores[0].Dir, View: in.View}, d, d, o)
	} else {
		a, err = o.judgeStored(ctx, d, stores...)
	}
	if err != nil {
		return nil, err
	}
	o.Note("%s judged in %s", text.Plural(n, "image"), time.Since(began).Round(time.Second/10))
	a.from, a.root, a.source, a.Model, a.Store = in.Images, in.Root, whole, names, stores[0].Dir
	a.Reading = whole.Reading
	a.groupCopies(whole)
	a.findProblems(looks[0].Paths, measured)
	return a, nil
}

// expectSteps notes the steps of an audit of n images, and how long each takes. It returns the time of the extractions,
// 0 if unknown.
func (o *auditing) expectSteps(ctx context.Context, looks []*extraction.Extraction, n, dim int) (all time.Duration,
	err error) {
	timed := ""
	for _, e := range looks {
		took, tried, err := e.Expect(ctx, o.Host.Host)
		if err != nil {
			return 0, err
		}
		if took > 0 {
			all += took
			timed = fmt.Sprintf(", about %s (%d were timed)", text.About(all), tried)
		}
	}
	o.Note("step 1 of 2: features of %s%s; step 2: judge them, about %s%s", text.Plural(len(looks[0].Paths), "image"),
		timed, text.About(o.guessDuration(n, dim)), o.describeUncounted())
	return all, nil
}

// describeUncounted says what a guess of the time does not count.
func (o *auditing) describeUncounted() string {
	if o.Tune == nil {
		return ""
	}
	return ", and fine-tuning, which is timed when it begins"
}

// selectToJudge returns the dataset with the images to judge as its training images. It refuses fewer than two classes.
func (in Input) selectToJudge(whole *datasets.Dataset) (*datasets.Dataset, error) {
	d := *whole
	d.Samples = slices.Clone(whole.Samples)
	there, labels, labelled := map[string]int{}, map[int]bool{}, 0
	for i := range d.Samples {
		s := &d.Samples[i]
		there[s.Split]++
		if len(in.Splits) > 0 && !slices.Contains(in.Splits, s.Split) {
			s.Split = ""
			continue
		}
		s.Split = datasets.Train
		if s.Label != datasets.Unlabelled {
			labels[s.Label] = true
			labelled++
		}
	}
	for _, split := range in.Splits {
		if there[split] == 0 {
			return nil, fmt.Errorf(
				"audit: split %s: %s has no such images, but %s",
				split,
				in.Images,
				formatSplits(there),
			)
		}
	}
	if len(labels) < 2 {
		return nil, hint.With(fmt.Errorf("audit: %s: found %d classes among %d labelled images, expected at least two",
			in.Images, len(labels), labelled),
			"a folder needs a folder of images for each class, a manifest the columns path and label")
	}
	return &d, nil
}

// formatSplits lists splits with their numbers of images.
func formatSplits(splits map[string]int) string {
	var list []string
	for split, n := range splits {
		list = append(list, fmt.Sprintf("%s %d", split, n))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// findExtractions finds the images and the backbones; why gives the reason for the choice.
func (in Input) findExtractions(ctx context.Context, d *datasets.Dataset,
	host extraction.Host) (looks []*extraction.Extraction, why string, err error) {
	from := imageroot.Resolve(in.Root, in.Images)
	root, err := imageroot.Open(ctx, from)
	if err != nil {
		return nil, "", err
	}
	all, why := in.Model, "as asked"
	if all == "" {
		if all, why, err = extraction.Choose(d.Classes); err != nil {
			return nil, "", fmt.Errorf("audit: %w", err)
		}
	}
	names, said := strings.Split(all, ","), map[string]bool{}
	for _, name := range names {
		if name = strings.TrimSpace(name); name == "" {
			return nil, "", hint.Unfit("model", "found an empty name in %q, expected backbones separated by commas",
				all)
		}
		e, err := extraction.Look(name, root, d.Paths(), host)
		if err != nil {
			return nil, "", err
		}
		for _, other := range looks {
			if other.Model.SHA256 == e.Model.SHA256 {
				return nil, "", hint.Unfit("model", "%s and %s are one network: name each once", other.Model.Name, name)
			}
		}
		e.From, e.Out = from, in.Features
		if len(names) > 1 {
			e.Out = in.storeOf(e, said)
		}
		if err := e.Fit(ctx, host, func() (*datasets.Dataset, error) { return d, nil }); err != nil {
			return nil, "", err
		}
		looks = append(looks, e)
	}
	return looks, why, nil
}

// storeOf returns the folder for the features of one backbone of several: the folder of an audit by it alone, if
// there is one, else a folder named after it. taken are the names in use.
func (in Input) storeOf(e *extraction.Extraction, taken map[string]bool) string {
	if old, err := features.Open(in.Features); err == nil && old.Key.Model == e.Model.SHA256 {
		return in.Features
	}
	ending := filepath.Ext(in.Features)
	name := strings.TrimSuffix(filepath.Base(e.Model.Name), ".onnx")
	if taken[name] {
		name += "-" + e.Model.SHA256[:8]
	}
	taken[name] = true
	return strings.TrimSuffix(in.Features, ending) + "." + name + ending
}

// extractStores returns the stores of the images' features, created or updated.
func extractStores(
	ctx context.Context,
	looks []*extraction.Extraction,
	o auditing,
) (stores []*features.Store, err error) {
	all := tally{backbones: len(looks), images: len(looks[0].Paths)}
	for _, e := range looks {
		did, err := e.Update(ctx, all.tallyHost(o.Host.Host))
		if err != nil {
			return nil, err
		}
		all.done, all.kept = all.done+did.Rows, all.kept+did.Resumed
		if did.Complete {
			o.Note("%s: the features of an earlier audit are reused", e.Out)
		} else if n := did.Rows - did.Resumed; n > 0 {
			o.Note("%s: %s in %s on %s", e.Out, text.Plural(n, "image"),
				time.Duration(did.Seconds*float64(time.Second)).Round(time.Second/10), did.Device)
		}
		store, err := features.Open(e.Out)
		if err != nil {
			return nil, err
		}
		stores = append(stores, store)
	}
	return stores, nil
}

// tally counts the images of several extractions as one. Images of an earlier audit count as done.
type tally struct{ backbones, images, done, kept int }

func (t *tally) tallyHost(h extraction.Host) extraction.Host {
	begin := h.Images
	h.Images = func() (func(backbone.Progress), func()) {
		observe, end := begin()
		if observe == nil {
			return nil, end
		}
		return func(p backbone.Progress) {
			there := t.images - p.Total // in the store already
			observe(backbone.Progress{Done: t.done + there + p.Done, Total: t.backbones * t.images,
				Resumed: t.kept + there + p.Resumed, Bad: p.Bad})
		}, end
	}
	return h
}

// guessDuration estimates how long it takes to judge images of dim values on two cores, for the time left that is shown
// before more is known. With few images, heads take most of the time.
func (o Options) guessDuration(images, dim int) time.Duration {
	took := time.Duration(images) * time.Duration(max(dim, 512)) * 4 * time.Microsecond
	if audit.Named(o.Scorer).Trains {
		took += min(time.Duration(images)*8*time.Millisecond, 30*time.Second)
	}
	return took
}
