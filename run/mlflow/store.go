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
}

// text is always quoted, because versions of YAML differ in which bare words are numbers, dates or booleans.
type text string

// MarshalYAML quotes as JSON, which all versions read.
func (t text) MarshalYAML() ([]byte, error) { return json.Marshal(string(t)) }

// findExperiment returns the experiment of a name, and makes it if needed. Its number follows from the name, so that
// two runs that start at once make the same.
func findExperiment(store, name string, now time.Time) (e experiment, err error) {
	if name == "" || name == "." {
		name = "winnow"
	}
	found, err := os.ReadDir(store)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return e, err
	}
	for _, sub := range found {
		path := filepath.Join(store, sub.Name(), metaFile)
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) || !sub.IsDir() {
			continue
		}
		if err != nil {
			return e, err
		}
		var other experiment
		if err := yaml.Unmarshal(content, &other); err != nil {
			return e, fmt.Errorf("%s: %w", path, err)
		}
		if string(other.Name) == name && other.Stage == active && string(other.ID) == sub.Name() {
			return other, nil
		}
	}
	sum := sha256.Sum256([]byte(name))
	id := strconv.FormatUint(1e17+binary.BigEndian.Uint64(sum[:])%9e17, 10) // 18 digits, as MLflow makes them
	dir := filepath.Join(store, id)
	if _, err := os.Stat(filepath.Join(dir, metaFile)); err == nil {
		return e, fmt.Errorf("%s: the experiment %q was renamed or deleted in MLflow, but its folder is there: "+
			"restore it, or name another store", dir, name)
	}
	e = experiment{ArtifactLocation: text(fileURI(dir)), Created: now.UnixMilli(), ID: text(id),
		Updated: now.UnixMilli(), Stage: active, Name: text(name)}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return e, err
	}
	return e, writeYAML(filepath.Join(dir, metaFile), e)
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
