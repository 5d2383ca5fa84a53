package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/urfave/cli/v2"

	"winnow/eval"
	"winnow/features"
	"winnow/filters"
	"winnow/internal/atomicfile"
	"winnow/internal/config"
	"winnow/models"
	"winnow/recipes"
	"winnow/train"
)

// trainCommandRun is one call of winnow train after its arguments are understood.
type trainCommandRun struct {
	c        *cli.Context
	dir      string
	cfg      config.Run
	data     trainData
	tuning   *tuning        // nil: the head alone is trained
	features string         // store
	runtime  string         // version of ONNX Runtime
	noise    *noiseEstimate // where the rate was to be estimated
	start    time.Time
}

// runFacts is run.json: what went into a run, so that it can be repeated.
type runFacts struct {
	Winnow         string         `json:"winnow"`
	Go             string         `json:"go"`
	ORT            string         `json:"onnxruntime"`
	Device         string         `json:"device"`
	Threads        int            `json:"threads"`
	Started        time.Time      `json:"started"`
	Seed           uint64         `json:"seed"`
	Recipe         string         `json:"recipe,omitempty"` // that the settings began with; config.yaml holds all of them
	RecipeSHA256   string         `json:"recipe_sha256,omitempty"`
	Manifest       string         `json:"manifest"`
	ManifestSHA256 string         `json:"manifest_sha256,omitempty"` // of a manifest file
	ImagesSHA256   string         `json:"images_sha256"`             // of paths, splits and labels
	Features       string         `json:"features"`
	Backbone       string         `json:"backbone,omitempty"` // that was fine-tuned
	TunedWeights   []string       `json:"tuned_weights,omitempty"`
	FeaturesSHA256 string         `json:"features_sha256"`
	FeaturesKey    features.Key   `json:"features_key"`
	Images         int            `json:"train_images"`
	Unlabelled     int            `json:"train_images_without_label"`
	Validation     int            `json:"validation_images"`
	LeftOut        []leftOut      `json:"left_out"`
	Classes        []string       `json:"classes"`              // name of each class of the training, by its number
	NoiseRate      *noiseEstimate `json:"noise_rate,omitempty"` // estimated from the features, where --noise-rate was auto
	StepsPerEpoch  int            `json:"steps_per_epoch"`
	Steps          int            `json:"steps"`
}

// runResult is result.json, and what --json prints.
type runResult struct {
	Run        string      `json:"run"`
	Head       string      `json:"head"`
	Backbone   string      `json:"backbone,omitempty"` // the fine-tuned network that the head belongs to
	FineTuned  *tunedShare `json:"finetuned,omitempty"`
	Seed       uint64      `json:"seed"`
	Steps      int         `json:"steps"`
	Epochs     int         `json:"epochs"`
	BestStep   int         `json:"best_step"` // -1 without validation: the last state is kept
	Stopped    bool        `json:"stopped_early"`
	Corrected  *int        `json:"corrections,omitempty"` // of labels; where they are to be corrected
	Idle       int         `json:"idle_steps"`            // in which no loss had anything to learn from
	Validation *comparison `json:"validation"`            // null without a validation split
	Better     *bool       `json:"better_than_untrained"`
	Verdict    string      `json:"verdict"`
	Seconds    float64     `json:"seconds"`
}

func (r *trainCommandRun) do() error {
	ctx := r.c.Context
	r.tellData()
	var err error
	if r.noise, err = resolveRate(&r.cfg, r.data); err != nil {
		return err
	}
	if r.noise != nil {
		note(r.c, "estimated from the features: about %s of the labels are wrong", r.noise)
	}
	progress := newTrainProgress(r.c.App.ErrWriter, time.Now)
	opts := trainOptions{Dir: r.dir, Resume: r.c.Bool("resume"), Tuning: r.tuning}
	opts.Begun = func(plan trainPlan) error {
		progress.begun(plan)
		r.tellPlan(plan)
		return r.begin(plan)
	}
	if !r.c.Bool("quiet") {
		opts.Stepped, opts.Validated, opts.Weighed = progress.stepped, progress.validated, progress.weighed
		progress.samples = r.data.Train.Len() - r.data.Unlabelled
	}
	out, err := trainRun(ctx, r.cfg, r.data, opts)
	if err != nil {
		progress.end()
		return explainTrainFailure(err, r.data, r.dir, r.tuning != nil)
	}
	result := runResult{
		Run: r.dir, Head: filepath.Join(r.dir, bestHeadFile), Seed: r.cfg.Seed, Steps: out.Step, Epochs: out.Epochs,
		BestStep: out.BestStep, Stopped: out.Stopped, Idle: out.Idle, Seconds: time.Since(r.start).Seconds(),
		Verdict: "there is no validation split: whether training was worth it was not measured",
	}
	if r.cfg.Correct.On() {
		result.Corrected = &out.Corrections
	}
	if r.tuning != nil {
		share := r.tuning.share()
		result.Backbone, result.FineTuned = filepath.Join(r.dir, bestBackboneFile), &share
	}
	if r.data.Validation.Len() > 0 {
		now, err := r.tuning.now(ctx, r.data.Validation)
		if err != nil {
			return err
		}
		c, err := compareTuned(ctx, out.Head, r.data.Train, asked{query: r.data.Validation}, asked{query: now}, eval.RetrievalOptions{})
		if err != nil {
			return err
		}
		c.FineTuned = r.tuning != nil
		better, verdict := c.better(), c.verdict()
		if out.BestStep == 0 { // whatever its start scores, training added nothing
			better = false
			verdict = fmt.Sprintf("training was NOT better than the head it started from, at any validation: the untrained head is kept (P@1 %.4f, frozen %.4f, whitened %.4f)",
				c.Trained.PrecisionAt1, c.Frozen.PrecisionAt1, c.Whitened.PrecisionAt1)
		}
		result.Validation, result.Better, result.Verdict = &c, &better, verdict
	}
	if err := r.writeResult(result); err != nil {
		return err
	}
	return r.print(result)
}

// tellData says what is trained on and what is not.
func (r *trainCommandRun) tellData() {
	d := r.data
	note(r.c, "%d images of %d classes to train on, %d for validation", d.Train.Len(), len(d.Classes), d.Validation.Len())
	if v := d.views(); v > 1 {
		note(r.c, "%d views of each training image: every visit shows one of them, drawn; the head's start and validation look at the centre", v)
	}
	if d.Unlabelled > 0 {
		use := "are only used for whitening (sampler.unlabelled puts some into every batch, for losses that learn from them)"
		if n := r.cfg.Sampler.Unlabelled; n > 0 {
			use = fmt.Sprintf("are in the batches, %d in each", min(n, d.Unlabelled))
		}
		note(r.c, "%d images of the train split have no label and %s", d.Unlabelled, use)
	}
	if d.Unjudged > 0 {
		note(r.c, "%d images of the validation split have no label and are left out", d.Unjudged)
	}
	if n := len(d.LeftOut); n > 0 {
		note(r.c, "%d unreadable images are left out (all are in run.json), the first is %s: %s", n, d.LeftOut[0].Path, d.LeftOut[0].Reason)
	}
	if d.Validation.Len() == 0 {
		note(r.c, "no validation split: the last state is kept, and nothing says when to stop")
	}
}

func (r *trainCommandRun) tellPlan(plan trainPlan) {
	if plan.Config.Head.Out != r.cfg.Head.Out {
		note(r.c, "dimension %d is more than the %d of the features: using %d", r.cfg.Head.Out, plan.Config.Head.In, plan.Config.Head.Out)
	}
	if s := r.cfg.Sampler; s.Variant != train.Shuffle && s.Classes > len(r.data.Classes) {
		note(r.c, "batches of %d classes: %d are asked for, and there are no more", len(r.data.Classes), s.Classes)
	}
	if r.cfg.Method != config.Metric {
		note(r.c, "%s", describeMethod(r.cfg, r.data.views()))
	}
	if m := r.cfg.Schedule.In(plan.Epoch).Milestones; len(m) > 0 && m[0] >= plan.Steps {
		note(r.c, "the learning rate falls first after %s, which is not within this run of %d steps: schedule.milestones sets it", r.cfg.Schedule.Milestones[0], plan.Steps)
	}
	if f := r.cfg.Filter; f.Scorer != config.NoFilter && f.Threshold != filters.ThresholdFixed {
		note(r.c, "the filter %s drops about %.0f %% of the labels (set by --noise-rate)", f.Scorer, 100*float64(f.Rate))
	}
	if f := r.cfg.Filter; r.tuning != nil && f.Scorer != config.NoFilter && f.WarmUp == (config.Span{}) {
		note(r.c, "the filter judges from the first step on, when the bank knows few classes: where it keeps too little, try --set filter.warm_up=\"1 epoch\"")
	}
	if s := r.cfg.SelfPaced; s.On() && r.cfg.Filter.Scorer != config.NoFilter {
		note(r.c, "samples are weighed, and the filter drops some besides: --filter none leaves it to the weights")
	}
	if r.cfg.Validation.Patience > 0 && !plan.Validates {
		note(r.c, "validation.patience is set without a validation split: the run will not stop early")
	}
	if r.tuning != nil && r.cfg.BackboneSolver.LR == 0 {
		note(r.c, "--backbone-lr is 0: the backbone's weights will not change")
	}
	if plan.Rests > 0 {
		note(r.c, "the backbone rests for the first %d of %d steps, while the head warms up", plan.Rests, plan.Steps)
	}
	if plan.Resumed > 0 {
		note(r.c, "going on after step %d of %d", plan.Resumed, plan.Steps)
	}
}

// begin throws away what --overwrite says, and writes config.yaml and run.json. A run that goes on keeps
// what it wrote when it began.
func (r *trainCommandRun) begin(plan trainPlan) error {
	if r.c.Bool("overwrite") {
		if err := clearRunFolder(r.dir); err != nil {
			return err
		}
	}
	if plan.Resumed > 0 {
		if _, err := os.Stat(filepath.Join(r.dir, runFile)); err == nil {
			return nil
		}
	}
	facts := runFacts{
		Winnow: version(), Go: runtime.Version(), ORT: r.runtime, Device: r.c.String("device"), Threads: r.c.Int("threads"),
		Started: r.start.UTC(), Seed: r.cfg.Seed, Manifest: r.cfg.Data.Manifest, ImagesSHA256: r.data.Sum, Features: r.features,
		FeaturesSHA256: r.data.StoreSum, FeaturesKey: r.data.Key, Images: r.data.Train.Len(), Unlabelled: r.data.Unlabelled,
		Validation: r.data.Validation.Len(), LeftOut: append([]leftOut{}, r.data.LeftOut...), Classes: r.data.Classes, NoiseRate: r.noise, StepsPerEpoch: plan.Epoch, Steps: plan.Steps,
	}
	if r.tuning != nil {
		facts.Backbone, facts.TunedWeights = r.tuning.backbone.Name, r.tuning.weights
	}
	if name := r.c.String("recipe"); name != "" {
		recipe, err := recipes.Find(name)
		if err != nil {
			return err
		}
		facts.Recipe, facts.RecipeSHA256 = recipe.Name, recipe.SHA256()
	}
	var err error
	if facts.ManifestSHA256, err = fileSum(r.cfg.Data.Manifest); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	text, err := config.Marshal(r.cfg)
	if err != nil {
		return fmt.Errorf("train: %s: %w", configFile, err)
	}
	if err := atomicfile.WriteBytes(filepath.Join(r.dir, configFile), text); err != nil {
		return fmt.Errorf("train: %s: %w", configFile, err)
	}
	return r.writeJSON(runFile, facts)
}

func (r *trainCommandRun) writeResult(result runResult) error { return r.writeJSON(resultFile, result) }

func (r *trainCommandRun) writeJSON(name string, v any) error {
	var b bytes.Buffer
	if err := printJSON(&b, v); err != nil {
		return fmt.Errorf("train: %s: %w", name, err)
	}
	if err := atomicfile.WriteBytes(filepath.Join(r.dir, name), b.Bytes()); err != nil {
		return fmt.Errorf("train: %s: %w", name, err)
	}
	return nil
}

func (r *trainCommandRun) print(result runResult) error {
	if r.c.Bool("json") {
		return printJSON(r.c.App.Writer, result)
	}
	w := r.c.App.Writer
	if result.Validation != nil {
		result.Validation.print(w)
	}
	fmt.Fprintln(w, result.Verdict)
	if result.Stopped {
		fmt.Fprintf(w, "stopped early after step %d, as the last %d validations were no better\n", result.Steps, r.cfg.Validation.Patience)
	}
	if n := result.Corrected; n != nil {
		fmt.Fprintf(w, "%d corrections of labels: %s\n", *n, filepath.Join(r.dir, correctionsFile))
	}
	if idleTooOften(result) {
		fmt.Fprintf(w, "in %d of %d steps no loss had anything to learn from: no pairs in the batch, none that costs anything, or no label that the filter keeps; --batch PxK wants two images of a class and two classes\n", result.Idle, result.Steps)
	}
	files := result.Head
	if result.Backbone != "" {
		files += " on " + result.Backbone
	}
	if result.BestStep >= 0 {
		fmt.Fprintf(w, "%s: the state after step %d of %d\n", files, result.BestStep, result.Steps)
	} else {
		fmt.Fprintf(w, "%s: the state after step %d, the last\n", files, result.Steps)
	}
	return nil
}

// idleTooOften says whether a person should know. The first step against an empty bank is always idle.
func idleTooOften(result runResult) bool {
	return 10*result.Idle >= result.Steps && result.Idle > 1
}

// fileSum is the sha256 of a file, "" for a folder.
func fileSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return "", nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// headMeta ties a head to the backbone whose features it was trained on.
func headMeta(cfg config.Run, data trainData) models.HeadMeta {
	text, err := config.Marshal(cfg)
	if err != nil {
		panic("train: " + err.Error()) // a configuration that was read can be written
	}
	sum := sha256.Sum256(text)
	return models.HeadMeta{
		ModelSHA256: data.Key.Model, Output: data.Key.Output, Preprocessing: data.Key.Preprocessing,
		ConfigSHA256: hex.EncodeToString(sum[:]), Winnow: version(), Seed: cfg.Seed,
	}
}
