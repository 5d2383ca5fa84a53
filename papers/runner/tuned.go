package runner

import (
	"cmp"
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
	"winnow/features"
	"winnow/internal/hint"
	"winnow/models"
	"winnow/papers/studies"
	"winnow/run/config"
	"winnow/run/extraction"
)

// weightsKey begins the setting that says which part of a backbone is trained.
const weightsKey = "finetune.weights="

// Finetunes reports whether a study says itself which part of the network its rows train.
func Finetunes(s *studies.Study) bool {
	says := func(set []string) bool {
		return slices.ContainsFunc(set, func(s string) bool { return strings.HasPrefix(s, weightsKey) })
	}
	return says(s.Set) || slices.ContainsFunc(s.Rows, func(row studies.Row) bool { return says(row.Set) })
}

// listFinetune returns the setting that Finetune gives a row.
func (o *Options) listFinetune(row studies.Row) []string {
	if o.Finetune == "" || row.Recipe == "" {
		return nil
	}
	return []string{fmt.Sprintf("%s%q", weightsKey, o.Finetune)}
}

// openMade makes the features of a source that names none, with Options.Model in a folder below Dir, unless they are
// there.
func (r *reproduction) openMade(ctx context.Context, s Source) (*data, error) {
	d, err := datasets.Read(s.Manifest, datasets.ReadOptions{})
	if err != nil {
		return nil, err
	}
	b, cut, err := extraction.OpenBackbone(s.model, models.Settings{})
	if err != nil {
		return nil, err
	}
	root, err := imageroot.Open(ctx, imageroot.Resolve(s.Root, s.Manifest))
	if err != nil {
		return nil, hint.With(err, "name the root: the folder that the manifest's paths start from")
	}
	if b.Preprocessing, err = r.choosePreprocessing(b.Preprocessing); err != nil {
		return nil, err
	}
	e := extraction.Extraction{
		Root: root, Paths: features.Distinct(d.Paths()), Model: b, Cut: cut,
		Config: backbone.ExtractConfig{Preprocessing: b.Preprocessing, Batch: extraction.UsualBatch},
	}
	key, err := json.Marshal(e.Key())
	if err != nil {
		return nil, fmt.Errorf("reproduce: %w", err)
	}
	sum := sha256.Sum256(key)
	name := strings.TrimSuffix(s.Manifest.Base(), s.Manifest.Ext())
	e.Out = filepath.Join(r.Dir, "data", fmt.Sprintf("%s-%s", name, hex.EncodeToString(sum[:6])))
	if _, err := features.Open(e.Out); err != nil {
		r.Host.Note("making the features of %s of %d images, into %s", b.Name, len(e.Paths), e.Out)
	}
	store, err := e.Store(ctx, r.Host)
	if err != nil {
		return nil, err
	}
	made := newData(cmp.Or(s.words, fmt.Sprintf("%s (%s)", s.Manifest.Base(), b.Name)), d, store)
	made.from = s
	return made, nil
}

// choosePreprocessing returns the preprocessing of pictures for the study's rows: they are squashed if a row trains the
// network on squashed ones, as in a run.
func (r *reproduction) choosePreprocessing(p backbone.Preprocessing) (backbone.Preprocessing, error) {
	for i, row := range r.Study.Rows {
		if row.Recipe == "" || !r.isRowWanted(row) {
			continue
		}
		cfg, err := r.resolveCellConfig(studies.Cell{Row: i, Seed: 1})
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
