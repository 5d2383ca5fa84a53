package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/datasets/published"
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

// TestDataPublished imports human and corrected labels into the manifest and prints what they changed.
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
	holds(t, errs, "winnow: warning: cifar10n, official: train: found 10 images, expected 50000 as published")
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

// TestDataInShop imports the splits that winnow eval uses as queries and gallery.
func TestDataInShop(t *testing.T) {
	dir := t.TempDir()
	list := "4\nimage_name item_id evaluation_status\n"
	for i, split := range []string{"train", "train", "query", "gallery"} {
		name := "img/MEN/Denim/id_0000000" + string(rune('1'+i/2)) + "/0" + string(rune('1'+i)) + "_1_front.jpg"
		list += name + "   id_0000000" + string(rune('1'+i/2)) + " " + split + "\n"
		writeTree(t, dir, map[string]string{name: split})
	}
	writeTree(t, dir, map[string]string{"Eval/list_eval_partition.txt": list})
	out := filepath.Join(dir, "m.csv")
	code, stdout, errs := call(t.Context(), "data", "import", "--preset", "inshop", "--root", dir, "--out", out)
	if code != 0 || !strings.Contains(stdout, "query            1 images") || !strings.Contains(stdout,
		"gallery          1 images") ||
		!strings.Contains(errs, "query: found 1 images, expected 14218 as published") || strings.Contains(errs,
		"not there") {
		t.Errorf("exit code %d: %s%s", code, stdout, errs)
	}
	if want := "img/MEN/Denim/id_00000002/04_1_front.jpg,id_00000002,gallery\n"; !strings.HasSuffix(readFile(t, out),
		want) {
		t.Errorf("found\n%s, expected %q at its end", readFile(t, out), want)
	}
}

// TestDataJoin joins noisy labels of a list to a manifest, which keeps the true ones.
func TestDataJoin(t *testing.T) {
	dir := t.TempDir()
	writeTree(t, dir, map[string]string{
		"clean.csv": "path,label,split\ni/a/1.jpg,a,train\ni/a/2.jpg,a,train\ni/b/1.jpg,b,train\ni/c/1.jpg,c,test\n",
		"other.csv": "x/9.jpg,1\n",
		"noisy.csv": "/data/i/a/1.jpg,2\n/data/i/b/1.jpg,2\n",
	})
	clean, noisy, out := filepath.Join(dir, "clean.csv"), filepath.Join(dir, "noisy.csv"), filepath.Join(dir, "out.csv")
	code, stdout, errs := call(t.Context(), "data", "join", clean, noisy, "--out", out)
	if code != 0 || !strings.Contains(stdout, "1 training images, which are not in the list") ||
		!strings.Contains(stdout, "train: 1 of 2 labels wrong") {
		t.Errorf("exit code %d: %s%s", code, stdout, errs)
	}
	const want = "path,label,split,true_label\ni/a/1.jpg,b,train,a\ni/b/1.jpg,b,train,b\ni/c/1.jpg,c,test,\n"
	if got := readFile(t, out); got != want {
		t.Errorf("found\n%s, expected\n%s", got, want)
	}
	code, stdout, _ = call(t.Context(), "data", "join", clean, noisy, "--out", out, "--json")
	var r published.JoinedFiles
	if err := json.Unmarshal([]byte(stdout), &r); code != 0 || err != nil || r.LeftOut != 1 || r.Noise.Corrupted != 1 ||
		bytes.Contains([]byte(stdout), []byte("null")) {
		t.Errorf("exit code %d, %v: %s", code, err, stdout)
	}
	if err := os.WriteFile(out, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]struct {
		code int
		args string
	}{
		"winnow data join: found 1 arguments, expected two": {2,
			"join CLEAN --out OUT"},
		`CLEAN:1: label "split" is not an integer`: {1,
			"join CLEAN CLEAN --out OUT"},
		"join: DIR/other.csv: found none of the list's 1 images": {1,
			"join CLEAN DIR/other.csv --out OUT"},
		"none.csv: no such file": {1,
			"join CLEAN DIR/none.csv --out OUT"},
		`--human: cifar10n has no label set "best", expected one of: aggre, worse, random1`: {2,
			"import --preset cifar10n --human best --root DIR --out OUT"},
		`--human: mnist has no label set "worse", expected one of: none`: {2,
			"import --preset mnist --human worse --root DIR --out OUT"},
		"--human-labels does not go with mnist, only with cifar10n and cifar100n": {2,
			"import --preset mnist --human-labels NOISY --root DIR --out OUT"},
		"--corrected-labels does not go with fashion-mnist, only with mnist and CIFAR": {2,
			"import --preset fashion-mnist --corrected-labels NOISY --root DIR --out OUT"},
		"data import: --corrected-labels goes with --preset": {2,
			"import DIR --corrected-labels NOISY --out OUT"},
		"inshop: DIR: found no list_eval_partition.txt or Eval/list_eval_partition.txt, expecte": {1,
			"import --preset inshop --root DIR --out OUT"},
	} {
		replace := strings.NewReplacer("CLEAN", clean, "NOISY", noisy, "OUT", out, "DIR", dir)
		code, _, errs := call(t.Context(), append([]string{"data"}, strings.Fields(replace.Replace(c.args))...)...)
		if code != c.code || !strings.Contains(errs, replace.Replace(want)) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: exit code %d: %s, expected %d and one line with %q", c.args, code, errs, c.code, want)
		}
	}
	if readFile(t, out) != "old" {
		t.Error("a refused command wrote its file")
	}
}
