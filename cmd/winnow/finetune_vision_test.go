package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"winnow/internal/testing/vits"
)

// TestFinetuneVision fine-tunes the last layer of vision transformers as exporters and ONNX Runtime's optimiser write
// them: it and what follows moves, and nothing before it.
func TestFinetuneVision(t *testing.T) {
	atelier(t)
	t.Setenv("WINNOW_MODELS", "models.json")
	for _, form := range []vits.Form{{Kind: vits.DINOv2, Parts: true, Free: true}, {Kind: vits.CLIP, Fused: true,
		Free: true}} {
		name := string(form.Kind)
		n := vits.New(form, 3)
		file := name + ".onnx"
		if err := os.WriteFile(file, n.Model.Marshal(), 0o644); err != nil {
			t.Fatal(err)
		}
		mustRun(t, "winnow models add "+file+" --name tiny-"+name+" --preset "+name+" --resize 12 --crop 12")
		mustCall(t, "train", "--manifest", "noisy.csv", "--root", "drawn", "--model", "tiny-"+name, "--finetune",
			n.Layer(vits.Layers-1), "--out", name, "--screen", "none", "--dim", "4", "--batch", "6x3", "--steps", "2",
			"--backbone-lr", "1e-2")
		tuned := readModel(t, name+"/last.onnx")
		var moved []string
		for weight, was := range n.Weights {
			now := tuned.Graph.Initializer(weight)
			if now == nil {
				t.Fatalf("%s: the tuned network has no %q", name, weight)
			}
			values, err := now.Float32s()
			if err != nil {
				t.Fatal(err)
			}
			same := slices.EqualFunc(values, was, func(a float32, b float64) bool { return a == float32(b) })
			early := strings.HasPrefix(weight, "embeddings.") || strings.Contains(weight, n.Layer(0)+".")
			if early && !same {
				t.Errorf("%s: %q moved", name, weight)
			}
			if !same {
				moved = append(moved, weight)
			}
		}
		if !slices.Contains(moved, n.Layer(vits.Layers-1)+".norm2.weight") || len(moved) < 8 {
			t.Errorf("%s: only %q moved", name, moved)
		}
	}
}
