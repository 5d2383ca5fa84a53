package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"winnow/internal/testing/exports"
)

// TestFinetuneVision fine-tunes a transformer's last layer: it and what follows moves, and nothing before it.
func TestFinetuneVision(t *testing.T) {
	atelier(t)
	t.Setenv("WINNOW_MODELS", "models.json")
	for _, name := range []string{"dinov2"} {
		n := exports.ByName(t, name)
		file := name + ".onnx"
		if err := os.WriteFile(file, n.File, 0o644); err != nil {
			t.Fatal(err)
		}
		before := readModel(t, file)
		mustRun(t, "winnow models add "+file+" --name tiny-"+name+" --preset "+name+" --resize 12 --crop 12")
		mustCall(t, "train", "--manifest", "noisy.csv", "--root", "drawn", "--model", "tiny-"+name, "--finetune",
			n.Layers[1], "--out", name, "--screen", "none", "--dim", "4", "--batch", "6x3", "--steps", "2",
			"--backbone-lr", "1e-2")
		tuned := readModel(t, name+"/last.onnx")
		var moved []string
		for weight := range n.Slopes {
			was, err := before.Graph.Initializer(weight).Float32s()
			if err != nil {
				t.Fatal(err)
			}
			now := tuned.Graph.Initializer(weight)
			if now == nil {
				t.Fatalf("%s: the tuned network has no %q", name, weight)
			}
			values, err := now.Float32s()
			if err != nil {
				t.Fatal(err)
			}
			same := slices.Equal(values, was)
			early := strings.HasPrefix(weight, "embeddings.") || strings.Contains(weight, n.Layers[0]+".")
			if early && !same {
				t.Errorf("%s: %q moved", name, weight)
			}
			if !same {
				moved = append(moved, weight)
			}
		}
		if !slices.Contains(moved, n.Layers[1]+".norm2.weight") || len(moved) < 8 {
			t.Errorf("%s: only %q moved", name, moved)
		}
	}
}
