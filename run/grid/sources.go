package grid

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"

	"winnow/run"
	"winnow/run/config"
	"winnow/run/extraction"
	"winnow/run/folder"
)

// source is a feature store that is made before the trainings that use it.
type source struct {
	*extraction.Extraction
	of []int // positions of these trainings in cells
}

// listStoresToMake returns the stores for trainings that name no features: one for each backbone and preprocessing.
func (s *Sweep) listStoresToMake(ctx context.Context) (list []source, err error) {
	at := map[string]int{} // position in list by backbone and preprocessing
	for k, c := range s.cells {
		if c.cfg.Data.Features != "" {
			continue
		}
		way := c.cfg.Data.Model
		if f := c.cfg.Finetune; f.On() && f.Augment != config.NoAugmentation && f.Augment != config.AutoAugmentation {
			way += " as " + f.Augment // an augmentation may squash images
		}
		if _, found := at[way]; !found {
			dir := folder.OwnFeatures
			if len(list) > 0 {
				dir += fmt.Sprintf("-%.4x", sha256.Sum256([]byte(way)))
			}
			cfg := c.cfg
			e, err := run.ExtractionOf(ctx, &cfg, s.data, s.Host, filepath.Join(s.Dir, dir))
			if err != nil {
				return nil, err
			}
			at[way] = len(list)
			list = append(list, source{Extraction: e})
		}
		list[at[way]].of = append(list[at[way]].of, k)
	}
	return list, nil
}

// makeFeatures makes the stores and sets them in the configurations of the trainings.
func (s *Sweep) makeFeatures(ctx context.Context, sources []source) error {
	for _, e := range sources {
		if err := run.MakeFeatures(ctx, e.Extraction, false, s.Host, s.Host.Note); err != nil {
			return err
		}
		for _, k := range e.of {
			c := &s.cells[k]
			if c.cfg.Data.Features = e.Out; !c.cfg.Finetune.On() {
				c.cfg.Data.Model = ""
			}
		}
	}
	return nil
}
