package main

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"path/filepath"
	"strings"
	"testing"

	"winnow/internal/testing/orttest"
	"winnow/run/folder"
)

// A random network that is validated on its training classes, with many images each, is trained by cross entropy unless
// a loss is named. The run's folder records the choice.
func TestFinetuneChoosesLoss(t *testing.T) {
	orttest.Runtime(t)
	t.Chdir(t.TempDir())
	t.Setenv("WINNOW_MODELS", filepath.Join(t.TempDir(), "models.json"))
	files := map[string]string{}
	closed, open := "path,label,split\n", "path,label,split\n"
	for i := range 220 {
		img := image.NewGray(image.Rect(0, 0, 28, 28))
		for at := range img.Pix {
			img.Pix[at] = byte(at * (i%11 + 3))
		}
		var file bytes.Buffer
		if err := png.Encode(&file, img); err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("%03d.png", i)
		files[name] = file.String()
		split, newer := "train", ""
		if i >= 208 {
			split, newer = "validation", "new"
		}
		closed += fmt.Sprintf("%s,class%d,%s\n", name, i%2, split)
		open += fmt.Sprintf("%s,%sclass%d,%s\n", name, newer, i%2, split)
	}
	files["closed.csv"], files["open.csv"] = closed, open
	writeTree(t, ".", files)
	mustCall(t, "models", "new", "letters", "--arch", "lenet5")
	for name, c := range map[string]struct {
		args []string
		loss string
		rate string
	}{
		"closed": {[]string{"--manifest", "closed.csv"}, "name: cross_entropy", "lr: 0.003"},
		"open":   {[]string{"--manifest", "open.csv"}, "name: contrastive", "lr: 0.001"},
		"named":  {[]string{"--manifest", "closed.csv", "--loss", "soft_triple"}, "name: soft_triple", "lr: 0.001"},
	} {
		args := append([]string{"train", "--model", "letters", "--finetune", "all", "--steps", "2", "--filter", "none",
			"--screen", "none", "--out", name}, c.args...)
		_, stderr := mustCall(t, args...)
		if said := strings.Contains(stderr, "the loss is cross entropy"); said != (name == "closed") {
			t.Errorf("%s: said %v:\n%s", name, said, stderr)
		}
		text := readFile(t, name, folder.ConfigFile)
		_, backbone, _ := strings.Cut(text, "\nbackbone_solver:")
		if backbone, _, _ = strings.Cut(backbone, "\nbackbone_schedule:"); !strings.Contains(text, c.loss) ||
			!strings.Contains(backbone, c.rate) || !strings.Contains(text, "loss: given") {
			t.Errorf("%s: expected %s at %s, found\n%s", name, c.loss, c.rate, text)
		}
		mustCall(t, "train", "--resume", "--out", name) // keeps the choice
	}
}
