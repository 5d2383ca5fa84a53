package importing

import (
	"archive/zip"
	"bufio"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"winnow/internal/testing/reference"
)

// eachPrism calls do with path (without /data/) and label of every row of a list of PRISM's.
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

// unlike returns the warnings about counts, without those about missing images.
func unlike(r *Result) string {
	var list []string
	for _, w := range r.Warnings {
		if strings.Contains(w, "as published") {
			list = append(list, w)
		}
	}
	return strings.Join(list, "; ")
}

// TestCountsSOP rebuilds the publisher's lists from PRISM's, which hold all 120,053 images: every protocol has the
// published counts, and a missing image is reported.
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
		"test: found 27765 images of 5658 classes, expected 27766 of 5658 as published"; w != want {
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

// TestCountsFood builds Food-101 and Food-101N from PRISM's test classes with their images, and training classes
// filled up to the published number.
func TestCountsFood(t *testing.T) {
	lists := prismLists(t)
	var classes, train, test, noisy []string
	for i := range 50 {
		class := fmt.Sprintf("a%02d", i) // sorts before every test class except "apple_pie", which is none
		classes = append(classes, class)
		for k := range 1000 {
			train = append(train, fmt.Sprintf("%s/%d", class, k))
		}
		for k := range 144086/50 + (50-i)/50*(144086%50) {
			noisy = append(noisy, fmt.Sprintf("%s/%d.jpg", class, k))
		}
	}
	eachPrism(t, lists, "FOOD_test.csv", func(p, label string) {
		key := strings.TrimSuffix(strings.TrimPrefix(p, "food101nDML/food-101/images/"), ".jpg")
		if class := path.Dir(key); classes[len(classes)-1] != class {
			classes = append(classes, class)
		}
		if label != fmt.Sprint(len(classes)) {
			t.Fatalf("class %s has the label %s, expected %d", classes[len(classes)-1], label, len(classes))
		}
		test = append(test, key)
	})
	for k := range 310009 - len(noisy) {
		noisy = append(noisy, fmt.Sprintf("%s/%d.jpg", classes[50+k%51], k))
	}
	files := fstest.MapFS{
		"food-101/meta/classes.txt": listOf(classes...), "food-101/meta/train.txt": listOf(train...),
		"food-101/meta/test.txt":       listOf(test...),
		"Food-101N/meta/classes.txt":   listOf(classes...),
		"Food-101N/meta/imagelist.tsv": listOf(append([]string{"class_name/key"}, noisy...)...),
	}
	for _, protocol := range []string{half, prism} {
		if w := unlike(imported(t, "food101n", files, Options{Protocol: protocol})); w != "" {
			t.Errorf("%s: %s", protocol, w)
		}
	}
	for preset, folder := range map[string]string{"food101": "food-101", "food101n": "Food-101N"} {
		sub, err := fs.Sub(files, folder)
		if err != nil {
			t.Fatal(err)
		}
		protocol := map[string]string{"food101": half, "food101n": Official}[preset]
		if w := unlike(imported(t, preset, sub, Options{Protocol: protocol})); w != "" {
			t.Errorf("%s: %s", preset, w)
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
