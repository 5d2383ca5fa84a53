package importing

import (
	"archive/zip"
	"bufio"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"winnow/internal/testing/reference"
)

// eachPrism calls do with the path (without /data/) and label of each row of a PRISM list.
func eachPrism(t *testing.T, lists *zip.ReadCloser, name string, do func(p, label string)) {
	t.Helper()
	f, err := lists.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		p, label, _ := strings.Cut(strings.TrimPrefix(in.Text(), "/data/"), ",")
		do(p, label)
	}
}

// unlike returns the warnings about counts, without the warnings about missing images.
func unlike(r *Result) string {
	var list []string
	for _, w := range r.Warnings {
		if strings.Contains(w, "expected the published") {
			list = append(list, w)
		}
	}
	return strings.Join(list, "; ")
}

// TestCountsSOP rebuilds the publisher's lists from PRISM's lists, which contain all 120,053 images. Every protocol has
// the published counts, and a missing image is reported.
func TestCountsSOP(t *testing.T) {
	lists := prismLists(t)
	files := fstest.MapFS{}
	id := 0
	for _, part := range []string{"train", "test"} {
		var b strings.Builder
		fmt.Fprintln(&b, "image_id class_id super_class_id path")
		eachPrism(t, lists, "SOP_"+part+".csv", func(p, label string) {
			id++
			fmt.Fprintf(&b, "%d %s 1 %s\n", id, label, strings.TrimPrefix(p, "Stanford_Online_Products/"))
		})
		files["Ebay_"+part+".txt"] = &fstest.MapFile{Data: []byte(b.String())}
	}
	for _, protocol := range []string{Official, half, prism} {
		if w := unlike(imported(t, "sop", files, Options{Protocol: protocol})); w != "" {
			t.Errorf("%s: %s", protocol, w)
		}
	}
	list := files["Ebay_test.txt"]
	list.Data = list.Data[:strings.LastIndexByte(strings.TrimSpace(string(list.Data)), '\n')+1]
	if w, want := unlike(imported(t, "sop", files, Options{Protocol: prism})),
		"test: found 27765 images of 5658 classes, expected the published 27766 images of 5658 classes"; w != want {
		t.Errorf("one image less: %q, expected %q", w, want)
	}
}

// TestCountsCars98N reads PRISM's own lists.
func TestCountsCars98N(t *testing.T) {
	lists := prismLists(t)
	files := fstest.MapFS{}
	for _, name := range []string{"CARSN_train.csv", "CARSN_test.csv"} {
		data, err := fs.ReadFile(lists, name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	for _, protocol := range []string{Official, half, prism} {
		if w := unlike(imported(t, "cars98n", files, Options{Protocol: protocol})); w != "" {
			t.Errorf("%s: %s", protocol, w)
		}
	}
}

// prismLists opens PRISM's released lists.
func prismLists(t *testing.T) *zip.ReadCloser {
	t.Helper()
	r, err := zip.OpenReader(reference.Asset(t, "data/prism-lists.zip"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}
