package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"winnow/audit/suspects"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/internal/pagestyle"
)

//go:embed mnist.yaml
var training []byte

//go:embed digits.html.tmpl
var digitsPage string

// shownDigits is the number of wrong labels shown in the image.
const shownDigits = 12

// rejected lists the test images of MNIST, by number, whose label was rejected by most of five people. They are among
// the 100 images that the label-errors project (Northcutt et al. 2021, github.com/cleanlab/label-errors, Apache-2.0)
// showed to people.
var rejected = []int{947, 1621, 1901, 2130, 2462, 2597, 2654, 3520, 3558, 5937, 6651, 6783, 8527, 9679, 9729}

// digits shows wrong labels of MNIST's test images: the most suspect images whose label people rejected and for which
// winnow suggests another label.
func (m *maker) digits(ctx context.Context) error {
	const manifest, list = "mnist.csv", "mnist-suspects.csv"
	if err := m.run(ctx, "data", "import", "--preset", "mnist", "--root", m.mnist, "--out", manifest); err != nil {
		return err
	}
	if m.model == "" {
		if err := m.train(ctx, manifest); err != nil {
			return err
		}
	}
	if err := m.run(ctx, "audit", manifest, "--root", m.mnist, "--split", "test", "--model", m.model, "--scorer",
		"self-confidence", "--out", list); err != nil {
		return err
	}
	judged, err := suspects.Read(filepath.Join(m.dir, list))
	if err != nil {
		return err
	}
	root, err := imageroot.Open(ctx, location.At(m.mnist))
	if err != nil {
		return err
	}
	type cell struct {
		suspects.Suspect
		Picture template.URL
	}
	var cells []cell
	for _, e := range judged {
		if len(cells) == shownDigits {
			break
		}
		if e.Suggested == e.Given || !slices.ContainsFunc(rejected,
			func(n int) bool { return e.Path == fmt.Sprintf("test/%05d.bmp", n) }) {
			continue
		}
		data, err := fs.ReadFile(root, e.Path)
		if err != nil {
			return err
		}
		fmt.Printf("  %d. %s  given %s, suggested %s\n", e.Rank, e.Path, e.Given, e.Suggested)
		cells = append(cells, cell{e, template.URL("data:image/bmp;base64," + base64.StdEncoding.EncodeToString(data))})
	}
	if len(cells) < shownDigits {
		return fmt.Errorf("winnow suggests another label for %d of MNIST's rejected test images, "+
			"expected at least %d", len(cells), shownDigits)
	}
	var b bytes.Buffer
	if err := template.Must(template.New("digits").Parse(digitsPage)).Execute(&b,
		map[string]any{"Style": template.CSS(pagestyle.CSS), "Cells": cells}); err != nil {
		return err
	}
	file := filepath.Join(m.dir, "mnist.html")
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		return err
	}
	return m.shoot(ctx, "mnist-wrong-labels.png", "file://"+file, 1020, 470)
}

// train trains the network that embeds the digits.
func (m *maker) train(ctx context.Context, manifest string) error {
	const config, drawn = "mnist.yaml", "lenet.onnx"
	if err := os.WriteFile(filepath.Join(m.dir, config), training, 0o644); err != nil {
		return err
	}
	m.model = filepath.Join(m.dir, "trained.onnx")
	for _, line := range [][]string{
		{"models", "new", "lenet-of-the-pictures", "--arch", "lenet", "--seed", "1", "--out", drawn},
		{"train", "--config", config, "--manifest", manifest, "--root", m.mnist, "--model", drawn, "--out", "digits"},
		{"export", "digits", "--last", "--onnx", m.model},
	} {
		if err := m.run(ctx, line...); err != nil {
			return err
		}
	}
	return nil
}
