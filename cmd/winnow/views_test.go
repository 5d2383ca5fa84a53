package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/features"
	"winnow/run/extraction"
)

func TestExtractViewsCommand(t *testing.T) {
	a := newAlbum(t, 13)
	plain := a
	plain.out = filepath.Join(a.dir, "plain")
	plain.mustExtract(t)
	flags := []string{"--views", "center+flip+2*prism", "--dtype", "float16", "--seed", "7"}
	code, out, errs := a.extract(t, t.Context(), append(flags, "--json")...)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	var got extraction.Result
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	want := []string{"center", "flip", "prism.1@7", "prism.2@7"}
	if got.Rows != 13 || got.Dim != 7 || got.DType != "float16" || !slices.Equal(got.Views, want) || len(got.Bad) != 2 {
		t.Errorf("result %+v", got)
	}
	s, err := features.Open(a.out)
	if err != nil {
		t.Fatal(err)
	}
	one, err := features.Open(plain.out)
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.Read(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	y, err := one.Read(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range y.Data {
		if d := x.Data[i] - v; d > 5e-4*v || d < -5e-4*v { // features after a Relu; half an ulp of float16 is 2⁻¹¹
			t.Errorf("number %d: %v as float16, %v as float32", i, x.Data[i], v)
		}
	}
	if slices.Equal(x.Data, y.Data) {
		t.Error("float16 rounded nothing")
	}
	before := a.files(t)
	code, out, _ = a.extract(t, t.Context(), flags...)
	if code != 0 || !strings.Contains(out, "13 images × 4 views × 7 values") || !strings.Contains(out, "as float16") ||
		!strings.Contains(out, "nothing to do") {
		t.Errorf("again: %d: %s", code, out)
	}
	for want, other := range map[string][]string{
		"made with views [center flip prism.1@7 prism.2@7], asked for [center]": {"--views", "center"},
		"asked for [center flip prism.1@8 prism.2@8]":                           {"--seed", "8"},
		"made with numbers float16, asked for float32":                          {"--dtype", "float32"},
	} {
		if code, _, errs := a.extract(t, t.Context(), append(slices.Clone(flags), other...)...); code != 1 ||
			!strings.Contains(errs, want) || !strings.Contains(errs, "--overwrite") {
			t.Errorf("%v: exit code %d: %s", other, code, errs)
		}
	}
	if diff := cmp.Diff(before, a.files(t)); diff != "" {
		t.Errorf("the store has changed:\n%s", diff)
	}
	for want, other := range map[string][]string{
		`--views: backbone: view "centre" is unknown`:                                           {"--views", "centre"},
		`--dtype: found "float8", expected float32 or float16`:                                  {"--dtype", "float8"},
		`--views: backbone: augmentation "prsim" is unknown (did you mean "prism"?): known are`: {"--views", "2*prsim"},
	} {
		a.fails(t, 2, want, other...)
	}
}
