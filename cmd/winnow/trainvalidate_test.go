package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"winnow/train"
)

// Validation by nearest class mean, on trained classes, equals winnow eval's number of the same state.
func TestValidationByClassMean(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 11, 0.3)
	var list strings.Builder
	for i, line := range strings.Split(readFile(t, w.manifest), "\n") {
		// a quarter of the trained classes' images validate; classes 0 and 1 are only trained, others only validated
		switch {
		case strings.Contains(line, "class00,") || strings.Contains(line, "class01,"):
		case strings.HasPrefix(line, "c0") || strings.HasPrefix(line, "c1"):
			if i%4 == 0 {
				line = strings.Replace(line, ",train", ",validation", 1)
			}
		case strings.HasPrefix(line, "c3"):
			line = strings.Replace(line, ",validation", ",test", 1)
		}
		fmt.Fprintln(&list, line)
	}
	mixed := filepath.Join(w.dir, "mixed.csv")
	write(t, mixed, strings.TrimSpace(list.String())+"\n")
	measure := []string{"--set", "validation.measure=nearest-class-mean", "--set", "validation.every=10 steps"}
	out := filepath.Join(w.dir, "out")
	code, _, stderr := call(context.Background(), w.args(out, append(measure, "--manifest", mixed)...)...)
	if code != 0 || !strings.Contains(stderr, "validation accuracy by nearest class mean 0.") {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	best, n := math.Inf(-1), 0
	for s := bufio.NewScanner(strings.NewReader(readFile(t, out, train.MetricsFile))); s.Scan(); {
		var l struct{ Validation *float64 }
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		if l.Validation != nil {
			best, n = max(best, *l.Validation), n+1
		}
	}
	code, stdout, stderr := call(context.Background(), "eval", out, "--split", "validation", "--metrics",
		"nearest-class-mean", "--json")
	if code != 0 {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	var said struct {
		Metrics map[string]struct{ Trained struct{ Accuracy float64 } }
	}
	if err := json.Unmarshal([]byte(stdout), &said); err != nil {
		t.Fatal(err)
	}
	if got := said.Metrics["nearest-class-mean"].Trained.Accuracy; got != best || n < 8 || !(best > 0.2) {
		t.Errorf("the best of %d validations has accuracy %v, winnow eval says %v of that state", n, best, got)
	}
	code, _, stderr = call(context.Background(), w.args(filepath.Join(w.dir, "other"), measure...)...)
	if code != 1 || !strings.Contains(stderr, "no image of the validation split has a class of the train split") ||
		!strings.Contains(stderr, "validation.measure=p@1") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	code, _, stderr = call(context.Background(), w.args(filepath.Join(w.dir, "unknown"), "--set",
		"validation.measure=ncm")...)
	if code == 0 || !strings.Contains(stderr, `validation.measure: found "ncm", expected p@1 or nearest-class-mean`) {
		t.Errorf("exit %d\n%s", code, stderr)
	}
}

// A validation split of one class cannot choose a state: training and report say so, and only then.
func TestValidationOfOneClass(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 12, 0)
	const told = "validation split has one class"
	for _, one := range []bool{false, true} {
		if one {
			write(t, w.manifest, regexp.MustCompile(`(?m)^c2[1-9].*\n|^c3.*\n`).ReplaceAllString(readFile(t,
				w.manifest), ""))
		}
		out := filepath.Join(w.dir, fmt.Sprint("out", one))
		code, _, stderr := call(context.Background(), w.args(out, "--epochs", "1")...)
		if code != 0 || strings.Contains(stderr, told) != one {
			t.Errorf("one class: %v: exit %d\n%s", one, code, stderr)
		}
		page := filepath.Join(w.dir, "page.html")
		code, _, stderr = call(context.Background(), "report", out, "--no-map", "--no-pictures", "--out", page)
		if text := readFile(t, page); code != 0 || strings.Contains(text, told) != one || strings.Contains(text,
			"everything found there is right") != one {
			t.Errorf("one class: %v: report: exit %d\n%s", one, code, stderr)
		}
	}
}
