package folder

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"winnow/datasets"
	"winnow/features"
	"winnow/internal/atomicfile"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/internal/regular"
	"winnow/internal/seal"
	"winnow/run/config"
	"winnow/train"
)

// Facts is the contents of run.json: the input of a run, to repeat it.
type Facts struct {
	Winnow         string           `json:"winnow"`
	Go             string           `json:"go"`
	ORT            string           `json:"onnxruntime"`
	Device         string           `json:"device"`
	Threads        int              `json:"threads"`
	Started        time.Time        `json:"started"`
	Seed           uint64           `json:"seed"`
	Recipe         string           `json:"recipe,omitempty"` // recipe on which the settings are based
	RecipeSHA256   string           `json:"recipe_sha256,omitempty"`
	Manifest       string           `json:"manifest"`
	ManifestSHA256 string           `json:"manifest_sha256,omitempty"` // "" if the manifest is a folder
	ImagesSHA256   string           `json:"images_sha256"`             // checksum of paths, splits and labels
	Features       string           `json:"features"`
	Places         Places           `json:"places,omitempty"`   // absolute paths of the data
	Backbone       string           `json:"backbone,omitempty"` // name of the backbone that was fine-tuned
	TunedWeights   []string         `json:"tuned_weights,omitempty"`
	FeaturesSHA256 string           `json:"features_sha256"`
	ScreenedSHA256 string           `json:"screened_sha256,omitempty"` // checksum of screened.csv
	FeaturesKey    features.Key     `json:"features_key"`
	Images         int              `json:"train_images"`
	Unlabelled     int              `json:"train_images_without_label"`
	Validation     int              `json:"validation_images"`
	LeftOut        []lookup.LeftOut `json:"left_out"`
	Classes        []string         `json:"classes"`                  // names, by class number in the training
	NoiseRate      *NoiseRate       `json:"noise_rate,omitempty"`     // set if filter.rate was auto
	Decisions      *Decisions       `json:"decisions,omitempty"`      // decisions of people about labels
	Screening      *Screening       `json:"screening,omitempty"`      // result of screening before the training
	RateTest       *RateTest        `json:"learning_rates,omitempty"` // set if solver.lr or backbone_solver.lr was auto
	// Untrained is the P@1 of the validation split without training; nil: not measured.
	Untrained     *Untrained `json:"untrained,omitempty"`
	StepsPerEpoch int        `json:"steps_per_epoch"`
	Steps         int        `json:"steps"`
}

// Result is the contents of result.json, which winnow train --json also prints.
type Result struct {
	Run        string            `json:"run"`
	Head       string            `json:"head"`
	Backbone   string            `json:"backbone,omitempty"` // the fine-tuned network that the head belongs to
	FineTuned  *Share            `json:"finetuned,omitempty"`
	Seed       uint64            `json:"seed"`
	Steps      int               `json:"steps"`
	Epochs     int               `json:"epochs"`
	BestStep   int               `json:"best_step"` // -1 without validation: the last state is kept
	Stopped    bool              `json:"stopped_early"`
	Patience   int               `json:"patience,omitempty"`    // validations without a new best that end the run
	Idle       int               `json:"idle_steps"`            // number of steps in which no loss was active
	Validation *Comparison       `json:"validation"`            // null without a validation split
	Better     *bool             `json:"better_than_untrained"` // false, or null if validation cannot show it
	Verdict    string            `json:"verdict"`
	Seconds    float64           `json:"seconds"`
	Reading    *datasets.Reading `json:"reading,omitempty"`      // how the manifest was read
	Files      map[string]string `json:"files_sha256,omitempty"` // checksums of other files that commands read
}

// IdleTooOften reports whether there are enough idle steps to warn the user. The first step against an empty bank is
// always idle.
func (r Result) IdleTooOften() bool { return 10*r.Idle >= r.Steps && r.Idle > 1 }

// Begin writes config.yaml and run.json at the start of a run. sum is the checksum that the heads of the run contain.
func Begin(dir string, cfg config.Run, sum string, facts Facts) error {
	text, err := config.Marshal(cfg)
	if err != nil {
		return fmt.Errorf("train: %s: %w", ConfigFile, err)
	}
	text = append([]byte(sumLine+sum+"\n"+settingsLine+settingsSum(text)+"\n"), text...)
	if err := atomicfile.WriteBytes(filepath.Join(dir, ConfigFile), text); err != nil {
		return fmt.Errorf("train: %s: %w", ConfigFile, err)
	}
	return writeJSON(dir, FactsFile, facts)
}

// Begun reports whether a run has started in this folder: whether it has written run.json.
func Begun(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, FactsFile))
	return err == nil
}

// listRecordedFiles returns the files whose checksums are in result.json, because they contain none themselves.
func listRecordedFiles() []string {
	return []string{train.MetricsFile, train.DiagnosticsFile, ScreenedFile, WeightsFile,
		RangeFile}
}

// Finish writes result.json with the checksums of the other files.
func Finish(dir string, result Result) error {
	result.Files = map[string]string{}
	for _, name := range listRecordedFiles() {
		sum, err := FileSum(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("train: %w", err)
		}
		result.Files[name] = sum
	}
	return writeJSON(dir, ResultFile, result)
}

// GoOn removes result.json when a run continues.
func GoOn(dir string) error {
	if err := os.Remove(filepath.Join(dir, ResultFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}

// Intact compares files of a finished run with their checksums in result.json.
func Intact(dir string, names ...string) error {
	r, err := ReadResult(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		want, known := r.Files[name]
		if !known {
			continue
		}
		path := filepath.Join(dir, name)
		sum, err := FileSum(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if sum != want {
			return refuseChangedFile(path, sum, ResultFile, want)
		}
	}
	return nil
}

// refuseChangedFile returns the error for a file whose SHA-256 differs from want, which the file by records.
func refuseChangedFile(path, sum, by, want string) error {
	return hint.With(fmt.Errorf("%s: has changed since the training: its SHA-256 is %.12s…, but %s records %.12s…",
		path, cmp.Or(sum, "(none)"), by, want), "restore it, or train again")
}

// ReadFacts reads run.json.
func ReadFacts(dir string) (Facts, error) {
	var f Facts
	err := readJSON(dir, FactsFile, &f)
	return f, err
}

// ReadResult reads result.json; the error is [fs.ErrNotExist] if the training is not finished.
func ReadResult(dir string) (Result, error) {
	var r Result
	err := readJSON(dir, ResultFile, &r)
	if err == nil && r.Verdict == "" {
		err = fmt.Errorf("%s: contains no verdict, expected the result of a training", filepath.Join(dir, ResultFile))
	}
	r.Run = dir // the folder may have moved
	for _, path := range []*string{&r.Head, &r.Backbone} {
		if *path != "" {
			*path = filepath.Join(dir, filepath.Base(*path))
		}
	}
	return r, err
}

// mostJSON is the largest accepted size of run.json and result.json in bytes.
const mostJSON = 32 << 20

func readJSON(dir, name string, v any) error {
	path := filepath.Join(dir, name)
	text, err := regular.ReadFile(path, mostJSON)
	if err != nil {
		return err
	}
	if err := seal.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func writeJSON(dir, name string, v any) error {
	data, err := seal.Marshal(v)
	if err == nil {
		err = atomicfile.WriteBytes(filepath.Join(dir, name), data)
	}
	if err != nil {
		return fmt.Errorf("train: %s: %w", name, err)
	}
	return nil
}
