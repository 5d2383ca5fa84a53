package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// humanCIFAR writes CIFAR-10's binary version with ten training images and a test image of every class, and human
// labels that are wrong for images 0 and 3.
func humanCIFAR(t *testing.T, dir string) {
	t.Helper()
	var images []byte
	labels := "clean_label,aggre_label,worse_label\n"
	for i := range 10 {
		class := string(rune('0' + i))
		aggre := map[int]string{0: "1", 3: "4"}[i]
		if aggre == "" {
			aggre = class
		}
		images = append(append(images, byte(i)), make([]byte, 3072)...)
		labels += class + "," + aggre + "," + class + "\n"
	}
	writeTree(t, dir, map[string]string{"data_batch_1.bin": string(images), "test_batch.bin": string(images),
		"cifar10n.csv": labels})
}

// TestDataPublished imports human and corrected labels, and checks the manifest and the printed changes.
func TestDataPublished(t *testing.T) {
	dir := t.TempDir()
	humanCIFAR(t, dir)
	votes := filepath.Join(dir, "votes.json")
	writeTree(t, dir, map[string]string{
		"votes.json": `[{"id": 2, "given_original_label": 2, "our_guessed_label": 5,
			"mturk": {"given": 0, "guessed": 5}}]`})
	out := filepath.Join(dir, "m.csv")
	code, stdout, errs := call(t.Context(), "data", "import", "--preset", "cifar10n", "--root", dir,
		"--corrected-labels", votes, "--out", out)
	for _, want := range []string{"2 of 10 labels wrong (20.00 %", "label set aggre",
		"of 1 suspects 0 keep their label, 1 get another"} {
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("exit code %d: %s%s, expected %q", code, stdout, errs, want)
		}
	}
	holds(
		t,
		errs,
		"winnow: warning: cifar10n, official: train: found 10 images of 8 classes, expected the published 50000 "+
			"images of 10 classes",
	)
	rows := strings.Split(readFile(t, out), "\n")
	for _, want := range []string{"path,label,split,true_label,published_label", "train/00000.bmp,1,train,0,",
		"train/00001.bmp,1,train,1,", "test/00002.bmp,5,test,,2"} {
		if !slices.Contains(rows, want) {
			t.Errorf("found no %q in\n%s", want, strings.Join(rows, "\n"))
		}
	}
	code, stdout, errs = call(t.Context(), "data", "import", "--preset", "cifar10n", "--human", "worse",
		"--human-labels", filepath.Join(dir, "cifar10n.csv"), "--root", dir, "--out", out)
	if code != 0 || !strings.Contains(stdout, "0 of 10 labels wrong") {
		t.Errorf("exit code %d: %s%s", code, stdout, errs)
	}
}
