package train

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestResumeRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := newBed(t, dir, nil).trainer(t).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, CheckpointFile)
	for name, c := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"a value": {func(c *Config) { c.Identity = map[string]string{"seed": "1", "solver.lr": "0.01"} },
			`made with solver.lr = "0.003", asked for "0.01"`},
		"a key more": {func(c *Config) { c.Identity["clip"] = "1" }, `made with clip = "", asked for "1"`},
		"no filter":  {func(c *Config) { c.Filter = nil }, "does not fit this training"},
		"fewer terms": {func(c *Config) { c.Terms, c.Groups = c.Terms[:2], c.Groups[:1] },
			"does not fit this training"},
		"shorter": {func(c *Config) { c.Steps = 20 }, "does not fit this training"},
	} {
		tr := newBed(t, dir, c.change).trainer(t)
		before := slices.Clone(tr.params[0].Data)
		if _, err := tr.Resume(); err == nil || !strings.HasPrefix(err.Error(), "train: "+path+": ") ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected …%s…", name, err, c.want)
		}
		if !slices.Equal(before, tr.params[0].Data) {
			t.Errorf("%s: Resume failed but changed the weights", name)
		}
	}
	if err := os.WriteFile(path, read(t, dir, CheckpointFile)[:500], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := newBed(t, dir, nil).trainer(t).Resume(); err == nil ||
		!strings.HasSuffix(err.Error(), "checksum differs: the file is cut short or damaged") {
		t.Errorf("half a file: %v", err)
	}
	if found, err := newBed(t, t.TempDir(), nil).trainer(t).Resume(); found || err != nil {
		t.Errorf("empty folder: %v, %v", found, err)
	}
}
