// Package mlflow records a training in the files of MLflow's tracking ("mlruns"), so that MLflow shows the run among
// others:
//
//	STORE/EXPERIMENT/meta.yaml                the experiment, named after the manifest
//	STORE/EXPERIMENT/RUN/meta.yaml            status, start, end
//	STORE/EXPERIMENT/RUN/params/KEY           every setting of config.yaml
//	STORE/EXPERIMENT/RUN/metrics/KEY          every number of metrics.jsonl, in lines "milliseconds value step"
//	STORE/EXPERIMENT/RUN/tags/KEY
//	STORE/EXPERIMENT/RUN/artifacts/           copies of the run's small files
//
// MLflow deletes artifacts with a run, so they are copies: weights stay in the run's folder, which the tag winnow.run
// names.
package mlflow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"winnow/internal/atomicfile"
	"winnow/internal/regular"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
)

// The numbers of MLflow's RunStatus and SourceType.
const (
	running, finished, failed, killed = 1, 3, 4, 5
	local                             = 4
)

// Limits, in bytes.
const (
	mostParameter = 6000     // of MLflow
	mostArtifact  = 16 << 20 // larger files are not copied
)

// Run is the record of a training.
type Run struct {
	dir  string // of the record
	from string // the run's folder
	meta meta
	now  func() time.Time

	resumed bool
	files   map[string]*os.File // of the metrics
	err     error               // the first error, after which nothing is written
}

const (
	metaFile = "meta.yaml"
	active   = "active"
)

// Begin records that the run in dir, whose first files are written, starts, or resumes after the steps in done. A run
// that was recorded before keeps its record, but numbers of later steps are replaced.
func Begin(store, dir string, done int, now func() time.Time) (*Run, error) {
	r := &Run{from: dir, now: now, resumed: done > 0, files: map[string]*os.File{}}
	if err := r.begin(store, done); err != nil {
		return nil, fmt.Errorf("mlflow: %w", err)
	}
	return r, nil
}

func (r *Run) begin(store string, done int) error {
	cfg, facts, id, err := read(r.from)
	if err != nil {
		return err
	}
	for _, path := range []*string{&store, &r.from} {
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	manifest := filepath.Base(cfg.Data.Manifest)
	e, err := findExperiment(store, strings.TrimSuffix(manifest, filepath.Ext(manifest)), r.now())
	if err != nil {
		return err
	}
	r.dir = filepath.Join(store, string(e.ID), id)
	r.meta = meta{ArtifactURI: text(fileURI(filepath.Join(r.dir, "artifacts"))), ExperimentID: e.ID, Stage: active,
		RunID: text(id), RunUUID: text(id), RunName: text(filepath.Base(r.from)), SourceName: "winnow train",
		SourceType: local, StartTime: facts.Started.UnixMilli(), Status: running, Tags: []string{},
		UserID: text(userName())}
	for _, sub := range []string{"artifacts", "metrics", "params", "tags"} {
		if err := os.MkdirAll(filepath.Join(r.dir, sub), 0o755); err != nil {
			return err
		}
	}
	params := config.Flatten(cfg)
	for _, key := range slices.Sorted(maps.Keys(params)) {
		if err := r.write("params", key, parameter(params[key])); err != nil {
			return err
		}
	}
	tags := map[string]string{
		"mlflow.runName": string(r.meta.RunName), "mlflow.source.name": string(r.meta.SourceName),
		"mlflow.source.type": "LOCAL", "mlflow.user": string(r.meta.UserID),
		"winnow.run": r.from, "winnow.version": facts.Winnow, "winnow.recipe": facts.Recipe,
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if err := r.write("tags", key, tags[key]); err != nil {
			return err
		}
	}
	if err := r.recover(done, facts.Started); err != nil {
		return err
	}
	if err := r.copyFiles(); err != nil {
		return err
	}
	return writeYAML(filepath.Join(r.dir, metaFile), r.meta) // last, so that MLflow sees only complete runs
}

// read reads the first files of a run, and returns the id that follows from their content. A resumed run has the same
// id, wherever its folder is.
func read(dir string) (cfg config.Run, facts folder.Facts, id string, err error) {
	sum := sha256.New()
	for _, name := range []string{folder.ConfigFile, folder.FactsFile} {
		content, err := regular.ReadFile(filepath.Join(dir, name), regular.Most)
		if err != nil {
			return cfg, facts, "", err
		}
		sum.Write(content)
	}
	if facts, err = folder.ReadFacts(dir); err != nil {
		return cfg, facts, "", err
	}
	cfg, err = config.Load(filepath.Join(dir, folder.ConfigFile), nil)
	return cfg, facts, hex.EncodeToString(sum.Sum(nil)[:16]), err
}

var unsafeKey = regexp.MustCompile(`[^A-Za-z0-9_\-./ ]`)

// keyPath returns the file of a key; characters that MLflow refuses become _.
func (r *Run) keyPath(kind, key string) string {
	return filepath.Join(r.dir, kind, filepath.FromSlash(unsafeKey.ReplaceAllString(key, "_")))
}

func (r *Run) write(kind, key, value string) error {
	return atomicfile.WriteBytes(r.keyPath(kind, key), []byte(value))
}

// Metric appends the numbers of a line of metrics.jsonl. If it fails the training continues, and End returns the error.
func (r *Run) Metric(m train.Metric) {
	if r.err != nil {
		return
	}
	r.err = r.metric(m, r.now())
}

func (r *Run) metric(m train.Metric, at time.Time) error {
	content, err := json.Marshal(m)
	if err != nil {
		return err
	}
	var line map[string]any
	if err := json.Unmarshal(content, &line); err != nil {
		return err
	}
	delete(line, "step")
	return r.numbers("", line, m.Step, at)
}

func (r *Run) numbers(below string, values map[string]any, step int, at time.Time) error {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		var number float64
		switch v := values[key].(type) {
		case map[string]any:
			if err := r.numbers(below+key+"/", v, step, at); err != nil {
				return err
			}
			continue
		case float64:
			number = v
		case bool:
			if v {
				number = 1
			}
		default:
			continue
		}
		if err := r.append(below+key, number, step, at); err != nil {
			return err
		}
	}
	return nil
}

func (r *Run) append(key string, value float64, step int, at time.Time) (err error) {
	f := r.files[key]
	if f == nil {
		path := r.keyPath("metrics", key)
		if r.resumed {
			if err := cut(path, step); err != nil {
				return err
			}
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if f, err = regular.OpenOwn(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY); err != nil {
			return err
		}
		r.files[key] = f
	}
	_, err = fmt.Fprintf(f, "%d %s %d\n", at.UnixMilli(), strconv.FormatFloat(value, 'g', -1, 64), step)
	return err
}

// cut removes from a metric's file the lines of a step and of later steps, and an incomplete last line.
func cut(path string, step int) error {
	content, err := regular.ReadFile(path, regular.Most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var kept strings.Builder
	for line := range strings.Lines(string(content)) {
		parts := strings.Fields(line)
		if !strings.HasSuffix(line, "\n") || len(parts) != 3 {
			continue
		}
		if n, err := strconv.Atoi(parts[2]); err == nil && n < step {
			kept.WriteString(line)
		}
	}
	return atomicfile.WriteBytes(path, []byte(kept.String()))
}

// recover writes the numbers of earlier steps if this store has no record of the run.
func (r *Run) recover(done int, at time.Time) error {
	if _, err := os.Stat(filepath.Join(r.dir, metaFile)); err == nil || done == 0 {
		return nil
	}
	lines, err := train.ReadMetrics(r.from)
	if err != nil {
		return err
	}
	for _, m := range lines {
		if m.Step <= done {
			if err := r.metric(m, at); err != nil {
				return err
			}
		}
	}
	return r.close() // later writes first cut the steps that come again
}

// copyFiles replaces the copies of the run's small files: no weights, no states, and no metrics.
func (r *Run) copyFiles() error {
	for _, name := range folder.Files() {
		switch filepath.Ext(name) {
		case ".yaml", ".json", ".csv":
		default:
			continue
		}
		from := filepath.Join(r.from, name)
		info, err := os.Stat(from)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() > mostArtifact {
			continue
		}
		if err != nil {
			return err
		}
		err = atomicfile.Write(filepath.Join(r.dir, "artifacts", name), func(w io.Writer) error {
			f, err := regular.Open(from)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = io.Copy(w, f)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Run) close() (err error) {
	for _, f := range r.files {
		err = errors.Join(err, f.Close())
	}
	clear(r.files)
	return err
}

// End records how the training ended: finished, killed if ctx was cancelled, or failed. It returns the first error of
// the recording.
func (r *Run) End(ctx context.Context, training error) error {
	r.meta.Status = finished
	switch {
	case training != nil && ctx.Err() != nil:
		r.meta.Status = killed
	case training != nil:
		r.meta.Status = failed
	}
	r.meta.EndTime = new(r.now().UnixMilli())
	return errors.Join(r.err, r.close(), r.copyFiles(), writeYAML(filepath.Join(r.dir, metaFile), r.meta))
}
