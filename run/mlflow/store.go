package mlflow

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"winnow/internal/atomicfile"
	"winnow/internal/regular"
)

// meta is a run's meta.yaml, in MLflow's order.
type meta struct {
	ArtifactURI   text     `yaml:"artifact_uri"`
	EndTime       *int64   `yaml:"end_time"`
	EntryPoint    text     `yaml:"entry_point_name"`
	ExperimentID  text     `yaml:"experiment_id"`
	Stage         text     `yaml:"lifecycle_stage"`
	RunID         text     `yaml:"run_id"`
	RunName       text     `yaml:"run_name"`
	RunUUID       text     `yaml:"run_uuid"`
	SourceName    text     `yaml:"source_name"`
	SourceType    int      `yaml:"source_type"`
	SourceVersion text     `yaml:"source_version"`
	StartTime     int64    `yaml:"start_time"`
	Status        int      `yaml:"status"`
	Tags          []string `yaml:"tags"`
	UserID        text     `yaml:"user_id"`
}

// experiment is an experiment's meta.yaml.
type experiment struct {
	ArtifactLocation text  `yaml:"artifact_location"`
	Created          int64 `yaml:"creation_time"`
	ID               text  `yaml:"experiment_id"`
	Updated          int64 `yaml:"last_update_time"`
	Stage            text  `yaml:"lifecycle_stage"`
	Name             text  `yaml:"name"`

	folder string // that it was read from
}

// text is always quoted, because versions of YAML differ in which bare words are numbers, dates or booleans.
type text string

// MarshalYAML quotes as JSON, which all versions read.
func (t text) MarshalYAML() ([]byte, error) { return json.Marshal(string(t)) }

// findExperiment returns the experiment of a name, and makes it if needed. Its number follows from the name, so that
// two runs that start at once make the same.
func findExperiment(store, name string, now time.Time) (*experiment, error) {
	if name == "" || name == "." {
		name = "winnow"
	}
	found, err := os.ReadDir(store)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, sub := range found {
		if !sub.IsDir() {
			continue
		}
		other, err := readExperiment(filepath.Join(store, sub.Name()))
		if err != nil || other != nil && other.is(name) {
			return other, err
		}
	}
	sum := sha256.Sum256([]byte(name))
	id := strconv.FormatUint(1e17+binary.BigEndian.Uint64(sum[:])%9e17, 10) // 18 digits, as MLflow makes them
	dir := filepath.Join(store, id)
	other, err := readExperiment(dir)
	switch {
	case err != nil || other != nil && other.is(name): // a run that began meanwhile made it
		return other, err
	case other != nil:
		return nil, fmt.Errorf("%s: the experiment %q was renamed or deleted in MLflow, but its folder is there: "+
			"restore it, or name another store", dir, name)
	}
	e := &experiment{ArtifactLocation: text(fileURI(dir)), Created: now.UnixMilli(), ID: text(id),
		Updated: now.UnixMilli(), Stage: active, Name: text(name)}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return e, writeYAML(filepath.Join(dir, metaFile), e)
}

// readExperiment reads the experiment in a folder; nil if it is none.
func readExperiment(dir string) (*experiment, error) {
	path := filepath.Join(dir, metaFile)
	content, err := regular.ReadFile(path, regular.Most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	e := &experiment{folder: filepath.Base(dir)}
	if err := yaml.Unmarshal(content, e); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return e, nil
}

// is reports whether e is the active experiment of a name.
func (e *experiment) is(name string) bool {
	return string(e.Name) == name && e.Stage == active && string(e.ID) == e.folder
}

// fileURI returns the address of a folder as Python's Path.as_uri does.
func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // on Windows
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

func writeYAML(path string, v any) error {
	content, err := yaml.Marshal(v)
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(path, content)
}

// parameter returns a value as MLflow takes it: one line of limited length.
func parameter(value string) string {
	value = strings.Join(strings.Fields(value), " ")
	if len(value) > mostParameter {
		value = strings.ToValidUTF8(value[:mostParameter-len("…")], "") + "…"
	}
	return value
}
