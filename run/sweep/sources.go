package sweep

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"winnow/features"
	"winnow/run"
	"winnow/run/config"
	"winnow/run/extraction"
	"winnow/run/folder"
	"winnow/run/tuning"
)

// source is a store that trainings start from, and that is made first, once for all of them.
type source struct {
	*extraction.Extraction
	of []int // cells
}

// sources finds out how the features are made of trainings that name none: once for all that look at the images alike by one
// backbone. Heads start from what fine-tunings of their backbone start from, if there are any.
func (s *Sweep) sources(ctx context.Context) (list []source, err error) {
	var tuned, heads []int
	for k, c := range s.cells {
		switch {
		case c.cfg.Data.Features != "":
		case c.cfg.Finetune.On():
			tuned = append(tuned, k)
		default:
			heads = append(heads, k)
		}
	}
	like := map[string]int{} // place in list, by what of the settings decides
	for _, k := range slices.Concat(tuned, heads) {
		cfg := s.cells[k].cfg
		settings := cfg.Data.Model
		if cfg.Finetune.On() {
			settings = fmt.Sprintf("%s, %s, %t", cfg.Data.Model, cfg.Finetune.Augment, cfg.Finetune.Weights == config.AllWeights)
		}
		at, found := like[settings]
		if !found {
			e, err := s.extraction(ctx, cfg, list)
			if err != nil {
				return nil, err
			}
			if at = slices.IndexFunc(list, func(o source) bool { return o.Key().Differs(e.Key()) == "" }); at < 0 {
				at = len(list)
				list = append(list, source{Extraction: e})
			}
			like[settings] = at
			if _, found := like[cfg.Data.Model]; !found {
				like[cfg.Data.Model] = at
			}
		}
		list[at].of = append(list[at].of, k)
	}
	return list, nil
}

// extraction says how the features of a training are made, into a store beside the others.
func (s *Sweep) extraction(ctx context.Context, cfg config.Run, others []source) (e *extraction.Extraction, err error) {
	if !cfg.Finetune.On() {
		if e, err = run.ExtractionOf(ctx, &cfg.Data, s.data, s.Host); err == nil {
			e.Out = s.place(others, func(k features.Key) bool { return k.Model == e.Model.SHA256 })
			e.Fit(s.Host)
		}
		return e, err
	}
	if err := run.ChooseBackbone(&cfg.Data, s.data, s.Host.Note); err != nil {
		return nil, err
	}
	live, err := tuning.Open(cfg, s.data.Paths(), tuning.Config{Note: s.Host.Note, Watch: unwatched})
	if err != nil {
		return nil, err
	}
	e = live.Extraction("")
	e.Out = s.place(others, func(k features.Key) bool { return k.Differs(e.Key()) == "" })
	return e, live.Close()
}

// place returns the folder of the store that an earlier call made, finished or begun, or one that is free.
func (s *Sweep) place(others []source, same func(features.Key) bool) string {
	for n := 1; ; n++ {
		dir := filepath.Join(s.Dir, folder.OwnFeatures)
		if n > 1 {
			dir += fmt.Sprint("-", n)
		}
		taken := slices.ContainsFunc(others, func(o source) bool { return o.Out == dir })
		if key, there := features.KeyIn(dir); !taken && (!there || same(key)) {
			return dir
		}
	}
}

// makeFeatures makes them, unless they are there.
func (s *Sweep) makeFeatures(ctx context.Context, sources []source) error {
	for _, e := range sources {
		if old, err := features.Open(e.Out); err != nil || old.Key.Differs(e.Key()) != "" {
			s.Host.Note("making the features of the backbone before training, into %s, for all trainings", e.Out)
		}
		if _, err := e.Store(ctx, s.Host); err != nil {
			return err
		}
		for _, k := range e.of {
			s.cells[k].use(e.Out)
		}
	}
	return nil
}

// use has a training start from a store. The backbone of a head is the store's.
func (c *cell) use(store string) {
	c.asked, c.cfg.Data.Features = c.asked.With("features", store), store
	if !c.cfg.Finetune.On() {
		delete(c.asked, "model")
		c.cfg.Data.Model = ""
	}
}
