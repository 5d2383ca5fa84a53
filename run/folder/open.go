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

// Run is an opened run: its configuration and head, and the data that it was trained on.
type Run struct {
	Options
	Dir          string
	Config       config.Run
	HeadFile     string // name of the head's file in Dir
	Head         *head.Head
	Meta         models.HeadMeta
	ManifestFile location.Source           // a file or a folder
	Manifest     *datasets.Dataset         // Given, with the images that the run held out as the validation split
	Given        *datasets.Dataset         // Listed, with the labels that people decided before the training
	Listed       *datasets.Dataset         // the manifest as in ManifestFile
	Decided      map[int]datasets.Decision // differences between Listed and Given
	Store        *features.Store           // features by the network that the head belongs to
	Tuned        *models.Backbone          // the fine-tuned network; nil without fine-tuning
	Known        map[string]string         // for each split, [Comparison].Known

	sum string // checksum that the run's heads contain; "" if config.yaml has none
}

// Options selects the state of a run, and names data that moved since the training, or other data. An empty field means
// the data of the run.
type Options struct {
	Last     bool            // open the last state of the training instead of the best by validation
	Manifest location.Source // file or folder
	Features string          // folder of a feature store
	Root     location.Source // folder of the images
	View     string          // view of stores with several: the centre, or [MeanView]
	For      string          // name of the command, with which errors start
	Host     extraction.Host // computes the features of a fine-tuned network

	// Splits are the splits whose features are computed if necessary; none: all. [AnyUsual] stands for the result of
	// [UsualSplits].
	Splits []string
}

// Open opens a run folder.
func Open(ctx context.Context, dir string, o Options) (*Run, error) {
	r, err := Read(dir, o.Last)
	if err != nil {
		return nil, err
	}
	r.Known = map[string]string{datasets.Train: Learned, datasets.Validation: ChoseState}
	result, err := ReadResult(dir)
	if err == nil && result.BestStep < 0 {
		r.Known[datasets.Validation] = ""
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
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
	var checked map[int]datasets.Checked
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
			r.Given, r.Decided, checked = made, m.Decisions(), m.At
		}
	}
	if r.Manifest = r.Given; o.Manifest.IsZero() && (result.Verdict == "" || result.Validation != nil) { // held out
		r.Manifest, _ = r.Given.WithValidation(r.Config.Validation.Share(), r.Config.Seed, checked)
	}
	if err := r.settleSplits(); err != nil {
		return nil, err
	}
	if r.Config.Finetune.On() {
		if err := r.openTuned(ctx); err != nil {
			return nil, err
		}
	} else {
		if r.Store, err = features.Open(cmp.Or(o.Features, r.originalStore())); err != nil {
			return nil, hint.With(err, "if it moved, name it with %s; else %s", config.Key("data.features"),
				cmp.Or(features.Advice(err), "repair it"))
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

// Is reports whether a folder belongs to a run, by files that only trainings write.
func Is(dir string) bool {
	return slices.ContainsFunc([]string{FactsFile, BestHeadFile, LastHeadFile}, func(file string) bool {
		info, err := os.Stat(filepath.Join(dir, file))
		return err == nil && info.Mode().IsRegular()
	})
}

// Read reads the configuration and the head of a run folder. The head is the last state of the training if last is set,
// else the best by validation.
func Read(dir string, last bool) (*Run, error) {
	r := &Run{Dir: dir, HeadFile: BestHeadFile}
	if last {
		r.HeadFile = LastHeadFile
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, hint.With(fmt.Errorf("%s is a file, expected a folder that winnow train wrote", dir),
			"name a manifest with %s", config.Key("data.manifest"))
	}
	if err := r.readConfig(); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, hint.With(fmt.Errorf("%s: contains no %s, expected a folder that winnow train wrote", r.Dir,
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

// refuseUnfinished returns the error for a run that lacks a file which a training writes at its end.
func refuseUnfinished(dir, file string) error {
	return hint.With(fmt.Errorf("%s: contains no %s: the training is not finished", dir, file),
		"continue it: winnow train --resume %s", dir)
}

// sumLine is the start of the first line of config.yaml, a comment. The checksum behind it identifies the heads of the
// run. It covers the settings and data that determine the result, but no paths, so paths in the file may be changed.
const sumLine = "# config_sha256: "

// settingsLine is the start of the second line, a comment. It holds the checksum of the settings below, without paths.
const settingsLine = "# settings_sha256: "

// settingsSum returns the checksum of a configuration's text without leading comments and without the data's paths.
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

// maxConfig is the largest accepted size of config.yaml in bytes.
const maxConfig = 1 << 20

// readConfig reads config.yaml and finds the data that it names.
func (r *Run) readConfig() error {
	name := filepath.Join(r.Dir, ConfigFile)
	text, err := regular.ReadFile(name, maxConfig)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return hint.With(fmt.Errorf("%s is empty, expected the settings of the run", name), "restore it")
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
	if _, err := ReadFacts(r.Dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // Locate ignores it
		return err
	}
	r.Config.Data = Locate(r.Dir, r.Config.Data)
	return nil
}

// Settings reads the settings of a run, finished or not, with the present paths of its data.
func Settings(dir string) (config.Run, error) {
	r := &Run{Dir: dir}
	err := r.readConfig()
	return r.Config, err
}

// checkHeadOwner returns an error if the head was trained with another configuration than config.yaml. It accepts files
// without a checksum.
func (r *Run) checkHeadOwner(headFile string, head models.HeadMeta) error {
	if r.sum == "" || head.ConfigSHA256 == r.sum {
		return nil
	}
	return hint.With(fmt.Errorf("%s: %s is of another run (%.12s…) than %s (%.12s…): expected files of one run", r.Dir,
		headFile, head.ConfigSHA256, ConfigFile, r.sum),
		"restore the files of one run, or train again: winnow train --config %s --out %s --overwrite",
		filepath.Join(r.Dir, ConfigFile), r.Dir)
}

// Look returns the view of each image that is used, "" if the store has only one view.
func (r *Run) Look() string {
	if r.Store.Views() == 1 {
		return ""
	}
	return r.View
}

// MeanView is the name of the mean of all views.
const MeanView = "mean"

// LookAt returns the store reduced to one view, the centre or [MeanView].
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
			"extract several views (winnow extract --views center+flip) and name that store with %s; keep the head",
			config.Key("data.features"))
	}
	note("using the mean of the %d views of each image in %s", s.Views(), s.Dir)
	return s.Averaged(), nil
}

// checkStoreMatches returns an error if the head was trained on features of another kind than the store's.
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
