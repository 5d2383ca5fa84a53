package folder

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"winnow/datasets"
	"winnow/features"
	"winnow/internal/atomicfile"
	"winnow/internal/lookup"
	"winnow/internal/text"
	"winnow/run/comparison"
	"winnow/run/config"
)

// Facts is run.json: the input of a run, to repeat it.
type Facts struct {
	Winnow         string           `json:"winnow"`
	Go             string           `json:"go"`
	ORT            string           `json:"onnxruntime"`
	Device         string           `json:"device"`
	Threads        int              `json:"threads"`
	Started        time.Time        `json:"started"`
	Seed           uint64           `json:"seed"`
	Recipe         string           `json:"recipe,omitempty"` // where the settings started
	RecipeSHA256   string           `json:"recipe_sha256,omitempty"`
	Manifest       string           `json:"manifest"`
	ManifestSHA256 string           `json:"manifest_sha256,omitempty"` // of a manifest file
	ImagesSHA256   string           `json:"images_sha256"`             // of paths, splits and labels
	Features       string           `json:"features"`
	Places         Places           `json:"places,omitempty"`   // where the data were, to find them from anywhere
	Backbone       string           `json:"backbone,omitempty"` // that was fine-tuned
	TunedWeights   []string         `json:"tuned_weights,omitempty"`
	FeaturesSHA256 string           `json:"features_sha256"`
	FeaturesKey    features.Key     `json:"features_key"`
	Images         int              `json:"train_images"`
	Unlabelled     int              `json:"train_images_without_label"`
	Validation     int              `json:"validation_images"`
	LeftOut        []lookup.LeftOut `json:"left_out"`
	Classes        []string         `json:"classes"`                  // names, by their numbers in the training
	NoiseRate      *NoiseRate       `json:"noise_rate,omitempty"`     // estimated, if filter.rate was auto
	Screening      *Screening       `json:"screening,omitempty"`      // of the labels before the training
	RateTest       *RateTest        `json:"learning_rates,omitempty"` // if solver.lr or backbone_solver.lr was auto
	StepsPerEpoch  int              `json:"steps_per_epoch"`
	Steps          int              `json:"steps"`
}

// Result is result.json, which winnow train also prints as JSON.
type Result struct {
	Run        string                 `json:"run"`
	Head       string                 `json:"head"`
	Backbone   string                 `json:"backbone,omitempty"` // the fine-tuned network that the head belongs to
	FineTuned  *Share                 `json:"finetuned,omitempty"`
	Seed       uint64                 `json:"seed"`
	Steps      int                    `json:"steps"`
	Epochs     int                    `json:"epochs"`
	BestStep   int                    `json:"best_step"`          // -1 without validation: the last state is kept
	Averaged   bool                   `json:"averaged,omitempty"` // the head is the average of the weights
	Stopped    bool                   `json:"stopped_early"`
	Patience   int                    `json:"patience,omitempty"`    // validations without a new best that end the run
	Corrected  *int                   `json:"corrections,omitempty"` // of labels, if the run corrects them
	Idle       int                    `json:"idle_steps"`            // in which no loss was active
	Validation *comparison.Comparison `json:"validation"`            // null without a validation split
	Better     *bool                  `json:"better_than_untrained"` // false; null: validation, which chose, cannot say
	Verdict    string                 `json:"verdict"`
	Advice     string                 `json:"advice,omitempty"` // what to try if training was worth nothing
	Seconds    float64                `json:"seconds"`
	Reading    *datasets.Reading      `json:"reading,omitempty"` // how the manifest was read
}

// IdleTooOften reports whether there are enough idle steps to tell the user. The first step against an empty bank is
// always idle.
func (r Result) IdleTooOften() bool { return 10*r.Idle >= r.Steps && r.Idle > 1 }

// Begin writes config.yaml and run.json at the start of a run. The heads of the run will have the same sum.
func Begin(dir string, cfg config.Run, sum string, facts Facts) error {
	text, err := config.Marshal(cfg)
	if err != nil {
		return fmt.Errorf("train: %s: %w", ConfigFile, err)
	}
	text = append([]byte(sumLine+sum+"\n"), text...)
	if err := atomicfile.WriteBytes(filepath.Join(dir, ConfigFile), text); err != nil {
		return fmt.Errorf("train: %s: %w", ConfigFile, err)
	}
	return writeJSON(dir, FactsFile, facts)
}

// Begun reports whether a run wrote its first files.
func Begun(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, FactsFile))
	return err == nil
}

// Finish writes result.json.
func Finish(dir string, result Result) error { return writeJSON(dir, ResultFile, result) }

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
	r.Run = dir // it may have moved
	for _, path := range []*string{&r.Head, &r.Backbone} {
		if *path != "" {
			*path = filepath.Join(dir, filepath.Base(*path))
		}
	}
	return r, err
}

func readJSON(dir, name string, v any) error {
	path := filepath.Join(dir, name)
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func writeJSON(dir, name string, v any) error {
	err := atomicfile.Write(filepath.Join(dir, name), func(w io.Writer) error { return text.JSON(w, v) })
	if err != nil {
		return fmt.Errorf("train: %s: %w", name, err)
	}
	return nil
}
