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
)

// source is a store that is made before the trainings, for those that start from it.
type source struct {
	*extraction.Extraction
	of []int // positions in cells
}

// listStoresToMake returns the stores to make for trainings that name no features: one for each backbone and each way
// to look at the images. Heads start from the store of the fine-tunings of their backbone, if there are any.
func (s *Sweep) listStoresToMake(ctx context.Context) (list []source, err error) {
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
	like := map[string]int{} // positions in list, by the settings that decide
	for _, k := range slices.Concat(tuned, heads) {
		cfg, model := s.cells[k].cfg, s.cells[k].cfg.Data.Model
		settings := model
		if cfg.Finetune.On() {
			settings = fmt.Sprintf("%s, %s, %t", model, cfg.Finetune.Augment, cfg.Finetune.Weights == config.AllWeights)
		}
		at, found := like[settings]
		if !found {
			e, err := run.ExtractionOf(ctx, &cfg, s.data, s.Host,
				func(same func(features.Key) bool) string { return s.placeStore(list, same) })
			if err != nil {
				return nil, err
			}
			if at = slices.IndexFunc(list, func(o source) bool { return o.Key().Differs(e.Key()) == "" }); at < 0 {
				at = len(list)
				list = append(list, source{Extraction: e})
			}
			like[settings] = at
			if _, found := like[model]; !found {
				like[model] = at
			}
		}
		list[at].of = append(list[at].of, k)
	}
	return list, nil
}

// placeStore returns the folder of a store that no other source has: one that an earlier call made, if its key is the
// same, or a free one.
func (s *Sweep) placeStore(others []source, same func(features.Key) bool) string {
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

// makeFeatures makes the stores, and names them to the trainings.
func (s *Sweep) makeFeatures(ctx context.Context, sources []source) error {
	for _, e := range sources {
		if err := run.MakeFeatures(ctx, e.Extraction, false, s.Host, s.Host.Note); err != nil {
			return err
		}
		for _, k := range e.of {
			s.cells[k].useStore(e.Out)
		}
	}
	return nil
}

// useStore makes a training start from a store. The backbone of a head is the store's.
func (c *cell) useStore(store string) {
	c.asked, c.cfg.Data.Features = c.asked.With("features", store), store
	if !c.cfg.Finetune.On() {
		delete(c.asked, "model")
		c.cfg.Data.Model = ""
	}
}
