package folder

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"winnow/backbone"
	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/head"
	"winnow/internal/hint"
	"winnow/internal/regular"
	"winnow/models"
	"winnow/run/config"
	"winnow/run/extraction"
)

// Run is a run folder with what it was trained on.
type Run struct {
	Options
	Dir          string
	Config       config.Run
	HeadFile     string // its name in Dir
	Head         *head.Head
	Meta         models.HeadMeta
	ManifestFile location.Source           // may be a folder
	Manifest     *datasets.Dataset         // with the images that the run held out as the validation split
	Given        *datasets.Dataset         // with the labels that people decided before the training
	Listed       *datasets.Dataset         // as ManifestFile has it
	Decided      map[int]datasets.Decision // what makes Given of Listed
	Store        *features.Store           // of the network that the head belongs to
	Tuned        *models.Backbone          // that network if the run trained it, else nil

	sum string // as its heads have it; "" if an earlier winnow wrote config.yaml
}

// Options choose the state of a run, and name data that moved since the training, or other data. "" is the run's own.
type Options struct {
	Last     bool            // the last state of the training instead of the one that validation chose
	Manifest location.Source // file or folder
	Features string          // store
	Root     location.Source // of the images
	View     string          // of stores with several: the centre, or [MeanView]
	For      string          // the command, which errors begin with
	Host     extraction.Host // computes the features of a fine-tuned network

	// Splits are the only ones whose features are computed, if they must be; none: all. [AnyUsual] stands for
	// [UsualSplits].
	Splits []string
}

// Open opens a run folder.
func Open(ctx context.Context, dir string, o Options) (*Run, error) {
	r, err := Read(dir, o.Last)
	if err != nil {
		return nil, err
	}
	if _, err := ReadResult(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, hint.With(err, "restore it, or %s", hint.Of(refuseUnfinished(dir, ResultFile)))
	}
	o.Host = o.Host.Complete()
	r.Options = o
	if r.ManifestFile = o.Manifest; o.Manifest.IsZero() {
		r.ManifestFile = location.At(r.Config.Data.Manifest)
	}
	root := cmp.Or(o.Root, location.At(r.Config.Data.Root))
	if r.Listed, err = datasets.Read(r.ManifestFile, datasets.ReadOptions{Root: root}); err != nil {
		return nil, hint.With(err, "if it moved, name it with %s", config.Key("data.manifest"))
	}
	if r.Given = r.Listed; o.Manifest.IsZero() {
		decided, err := ReadDecisions(dir)
		if err != nil {
			return nil, err
		}
		if decided != nil {
			made, m, _, err := Decide(decided, r.Given)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", filepath.Join(dir, DecisionsFile), err)
			}
			r.Given, r.Decided = made, m.Decisions()
		}
	}
	if r.Manifest = r.Given; o.Manifest.IsZero() {
		r.Manifest, _ = r.Given.WithValidation(r.Config.Validation.Share(), r.Config.Seed)
	}
	if err := r.settleSplits(); err != nil {
		return nil, err
	}
	if r.Config.Finetune.On() {
		if err := r.openTuned(ctx); err != nil {
			return nil, err
		}
	} else {
		store := o.Features
		if store == "" {
			store = r.originalStore()
		}
		if r.Store, err = features.Open(store); err != nil {
			return nil, hint.With(err, "if it moved, name it with %s; else %s", config.Key("data.features"),
				cmp.Or(features.Advice(err), "mend it"))
		}
	}
	if err := r.checkStoreMatches(); err != nil {
		return nil, err
	}
	if r.Store, err = LookAt(r.Store, o.View, o.Host.Note); err != nil {
		return nil, err
	}
	return r, nil
}

// Is reports whether a folder is a run's, by the files that only trainings write.
func Is(dir string) bool {
	return slices.ContainsFunc([]string{FactsFile, BestHeadFile, LastHeadFile}, func(file string) bool {
		info, err := os.Stat(filepath.Join(dir, file))
		return err == nil && info.Mode().IsRegular()
	})
}

// Read reads the configuration and the head of a run folder: the last state of the training, or the one that validation
// chose.
func Read(dir string, last bool) (*Run, error) {
	r := &Run{Dir: dir, HeadFile: BestHeadFile}
	if last {
		r.HeadFile = LastHeadFile
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, hint.With(fmt.Errorf("%s: is a file, expected a folder that winnow train wrote", dir),
			"name a manifest with %s", config.Key("data.manifest"))
	}
	if err := r.readConfig(); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, hint.With(fmt.Errorf("%s: holds no %s, expected a folder that winnow train wrote", r.Dir,
				ConfigFile), "make one: winnow train --manifest FILE --features DIR --out %s", r.Dir)
		}
		return nil, err
	}
	var err error
	if r.Head, r.Meta, err = models.ReadHead(filepath.Join(r.Dir, r.HeadFile)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, refuseUnfinished(r.Dir, r.HeadFile)
		}
		return nil, hint.With(err, "restore it, or %s", hint.Of(refuseUnfinished(r.Dir, r.HeadFile)))
	}
	return r, r.checkHeadOwner(r.HeadFile, r.Meta)
}

// refuseUnfinished is the error of a run that misses a file which it writes at its end.
func refuseUnfinished(dir, file string) error {
	return hint.With(fmt.Errorf("%s: holds no %s: the training is not finished", dir, file),
		"continue it: winnow train --config %s --out %s --resume", filepath.Join(dir, ConfigFile), dir)
}

// sumLine begins the first line of config.yaml, a comment. The sum that follows ties the file to the heads of the run:
// it covers the settings and data that decide the result, and no path, so paths in the file may be changed.
const sumLine = "# config_sha256: "

// settingsLine begins the second line, a comment: the sum of the settings as they are written below. Paths may change.
const settingsLine = "# settings_sha256: "

// settingsSum returns the sum of a configuration's text without comments at its start and without the data's paths.
func settingsSum(text []byte) string {
	sum, paths := sha256.New(), false
	for line := range bytes.Lines(text) {
		if line[0] == '#' {
			continue
		}
		if line[0] != ' ' {
			paths = bytes.HasPrefix(line, []byte("data:"))
		}
		if !paths {
			sum.Write(line)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// maxConfig bounds the size of config.yaml, which is much smaller.
const maxConfig = 1 << 20

// readConfig reads config.yaml and finds the data that it names.
func (r *Run) readConfig() error {
	name := filepath.Join(r.Dir, ConfigFile)
	text, err := regular.ReadFile(name, maxConfig)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return hint.With(fmt.Errorf("%s: is empty, expected the settings of the run", name), "restore it")
	}
	line, rest, _ := strings.Cut(string(text), "\n")
	sum, ok := strings.CutPrefix(line, sumLine)
	if r.sum = strings.TrimSpace(sum); !ok {
		r.sum = ""
	}
	second, rest, _ := strings.Cut(rest, "\n")
	if ours := strings.HasPrefix(second, settingsLine); !ok && line != "" && line[0] == '#' ||
		!ours && second != "" && second[0] == '#' {
		return hint.With(fmt.Errorf("%s: its first lines have changed since the training, expected %q and %q", name,
			strings.TrimSpace(sumLine), strings.TrimSpace(settingsLine)), "restore it")
	}
	if sum, ok := strings.CutPrefix(second, settingsLine); ok && settingsSum([]byte(rest)) != sum {
		return hint.With(fmt.Errorf("%s: its settings have changed since the training: their sha256 is %.12s…, "+
			"expected %.12s…", name, settingsSum([]byte(rest)), sum), "restore it, or train with other settings into "+
			"another folder")
	}
	if r.Config, err = config.Parse(name, text, nil); err != nil {
		return err
	}
	if _, err := ReadFacts(r.Dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // Locate would do without
		return err
	}
	r.Config.Data = Locate(r.Dir, r.Config.Data)
	return nil
}

// Settings reads the settings of a run, also of one that is not finished, with its data where they are now.
func Settings(dir string) (config.Run, error) {
	r := &Run{Dir: dir}
	err := r.readConfig()
	return r.Config, err
}

// checkHeadOwner refuses a head that was trained with another configuration than the one next to it. Earlier runs do
// not say.
func (r *Run) checkHeadOwner(headFile string, head models.HeadMeta) error {
	if r.sum == "" || head.ConfigSHA256 == r.sum {
		return nil
	}
	return hint.With(fmt.Errorf("%s: %s is of another run (%.12s…) than %s (%.12s…): expected the files of one", r.Dir,
		headFile, head.ConfigSHA256, ConfigFile, r.sum),
		"restore the one that belongs to the other, or train again: winnow train --config %s --out %s --overwrite",
		filepath.Join(r.Dir, ConfigFile), r.Dir)
}

// Look returns the view of each image that is used, "" if the store has only one.
func (r *Run) Look() string {
	if r.Store.Views() == 1 {
		return ""
	}
	return r.View
}

// MeanView as a view is the mean of all.
const MeanView = "mean"

// LookAt returns the store with one view, the centre or [MeanView].
func LookAt(s *features.Store, view string, note func(format string, args ...any)) (*features.Store, error) {
	if view != MeanView {
		if s.Views() > 1 {
			note("%s holds %d views of each image: using the centre (the view %s averages all)", s.Dir, s.Views(),
				MeanView)
		}
		return s, nil
	}
	if s.Views() == 1 {
		return nil, hint.With(fmt.Errorf("view %s: %s holds one view of each image, the %s, expected several", MeanView,
			s.Dir, backbone.CenterName),
			"extract several (winnow extract --views center+flip) and name that store with %s; the head stays as it is",
			config.Key("data.features"))
	}
	note("using the mean of the %d views of each image in %s", s.Views(), s.Dir)
	return s.Averaged(), nil
}

// checkStoreMatches refuses a store whose vectors the head was not trained on.
func (r *Run) checkStoreMatches() error {
	k := r.Store.Key
	for _, part := range []struct{ what, store, head string }{
		{"model", k.Model, r.Meta.ModelSHA256},
		{"output", k.Output, r.Meta.Output},
		{"preprocessing", k.Preprocessing, r.Meta.Preprocessing},
	} {
		if part.store != part.head {
			return fmt.Errorf("features %s: made with %s %.80s, but the head of %s was trained with %.80s", r.Store.Dir,
				part.what, part.store, r.Dir, part.head)
		}
	}
	return nil
}
