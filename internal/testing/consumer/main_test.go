package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"winnow/audit/suspects"
	"winnow/features"
	"winnow/models"
)

// write writes a manifest of 400 images in 8 classes, a fifth of them mislabelled, and their features.
func write(t *testing.T, dir string) (wrong map[string]bool) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	set, wrong := features.NewSet(400, 16), make(map[string]bool)
	list, paths := "path,label\n", make([]string, set.Len())
	for i := range set.Len() {
		class := i % 8
		for j := range set.Dim() {
			set.Row(i)[j] = 0.3 * float32(rng.NormFloat64())
		}
		set.Row(i)[class]++
		paths[i] = fmt.Sprintf("%d.jpg", i)
		if i%5 == 0 {
			class, wrong[paths[i]] = (class+1+rng.IntN(7))%8, true
		}
		list += fmt.Sprintf("%s,%d\n", paths[i], class)
	}
	if err := os.WriteFile(filepath.Join(dir, "list.csv"), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	key := features.Key{Model: "made up", Output: "features", Views: []string{"center"}}
	w, err := features.Create(filepath.Join(dir, "features"),
		features.Plan{Key: key, Paths: paths, Dim: set.Dim(), Batch: set.Len()}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Append(set.X, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	return wrong
}

func TestConsumer(t *testing.T) {
	dir := t.TempDir()
	wrong := write(t, dir)
	program := filepath.Join(dir, "consumer")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := exec.Command(program, filepath.Join(dir, "list.csv"), filepath.Join(dir, "features"),
		dir).CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	list, err := suspects.Read(filepath.Join(dir, "suspects.csv"))
	if err != nil || len(list) != 400 {
		t.Fatalf("%d suspects, %v", len(list), err)
	}
	right := 0
	for _, s := range list[:len(wrong)] {
		if wrong[s.Path] {
			right++
		}
	}
	if right < len(wrong)*8/10 {
		t.Errorf("of the %d most suspect labels %d are wrong", len(wrong), right)
	}
	h, _, err := models.ReadHead(filepath.Join(dir, "head.winnow"))
	if err != nil || h.Config().In != 16 {
		t.Errorf("head: %v", err)
	}
}
