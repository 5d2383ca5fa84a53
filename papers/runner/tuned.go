package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"winnow/backbone"
	"winnow/datasets"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/models"
	"winnow/papers/studies"
	"winnow/run/config"
	"winnow/run/extraction"
)

// weightsKey is the setting that says what of a backbone is trained.
const weightsKey = "finetune.weights="

// Check refuses data, --finetune, --model and --root that do not fit each other or the study.
func (o *Options) Check() error {
	says := func(set []string) bool {
		return slices.ContainsFunc(set, func(s string) bool { return strings.HasPrefix(s, weightsKey) })
	}
	own := says(o.Study.Set)
	for _, row := range o.Study.Rows {
		own = own || says(row.Set)
	}
	switch {
	case o.Study.Drawn() && o.Finetune+o.Model+o.Root != "":
		return hint.Misused("--finetune, --model, --root: %s draws what it needs: expected none of them", o.Study.Name)
	case o.Finetune != "" && own:
		return hint.Misused("--finetune: %s says itself what each of its rows trains: expected no --finetune", o.Study.Name)
	case o.Finetune != "" && o.Glyphs != nil:
		return hint.Misused("--finetune: --data glyphs has no image files: write them with winnow data glyphs, and name their manifest")
	case o.Glyphs != nil && o.Model+o.Root != "":
		return hint.Misused("--model, --root: --data glyphs has its own network and pictures: expected neither")
	}
	for _, s := range o.Data {
		if s.Features == "" && o.Model == "" {
			return hint.Misused("--data %s: no features are named, expected MANIFEST,FEATURES or --model, whose features are then made", s.Manifest)
		}
	}
	return nil
}

// tunes returns the setting that --finetune gives a row.
func (o *Options) tunes(row studies.Row) []string {
	if o.Finetune == "" || row.Recipe == "" {
		return nil
	}
	return []string{fmt.Sprintf("%s%q", weightsKey, o.Finetune)}
}

// openMade makes the features that a source has none of, by Options.Model into a folder below Dir, or takes those that are there.
func (r *reproduction) openMade(ctx context.Context, s Source) (*data, error) {
	d, err := datasets.ReadFile(s.Manifest, datasets.ReadOptions{})
	if err != nil {
		return nil, err
	}
	b, cut, err := extraction.OpenBackbone(s.model, models.Settings{})
	if err != nil {
		return nil, err
	}
	root, err := imageroot.Open(ctx, imageroot.Resolve(location.At(s.Root), location.At(s.Manifest)))
	if err != nil {
		return nil, hint.With(err, "name the folder that the manifest's paths start from with --root")
	}
	if b.Preprocessing, err = r.evaluated(b.Preprocessing); err != nil {
		return nil, err
	}
	e := extraction.Extraction{Root: root, Paths: features.Distinct(d.Paths()), Model: b, Cut: cut,
		Config: backbone.ExtractConfig{Preprocessing: b.Preprocessing, Batch: extraction.UsualBatch}}
	key, err := json.Marshal(e.Key())
	if err != nil {
		return nil, fmt.Errorf("reproduce: %w", err)
	}
	sum := sha256.Sum256(key)
	e.Out = filepath.Join(r.Dir, "data", fmt.Sprintf("%s-%s", strings.TrimSuffix(filepath.Base(s.Manifest), filepath.Ext(s.Manifest)), hex.EncodeToString(sum[:6])))
	if _, err := features.Open(e.Out); err != nil {
		r.Host.Note("making the features of %s of %d images, into %s", b.Name, len(e.Paths), e.Out)
	}
	store, err := e.Store(ctx, r.Host)
	if err != nil {
		return nil, err
	}
	made := newData(fmt.Sprintf("%s (%s)", filepath.Base(s.Manifest), b.Name), d, store)
	made.from = s
	return made, nil
}

// evaluated returns how pictures are prepared for the study's rows: squashed where one of those that train the network is
// trained on squashed ones, as a run would have it.
func (r *reproduction) evaluated(p backbone.Preprocessing) (backbone.Preprocessing, error) {
	for i, row := range r.Study.Rows {
		if row.Recipe == "" || !r.wanted(row) {
			continue
		}
		cfg, err := r.config(studies.Cell{Row: i, Seed: 1})
		if err != nil {
			return p, hint.AsMisuse(fmt.Errorf("%s: %w", row.Name, err))
		}
		if cfg.Finetune.On() && cfg.Finetune.Augment != config.AutoAugmentation {
			a, err := backbone.ParseAugmentation(cfg.Finetune.Augment)
			if err != nil {
				return p, hint.AsMisuse(err)
			}
			p = a.Evaluation(p)
		}
	}
	return p, nil
}
