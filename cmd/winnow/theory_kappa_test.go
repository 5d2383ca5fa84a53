package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"winnow/papers/theory/concentration"
)

func TestTheoryKappa(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kappa.svg")
	do := func(more ...string) (string, string, int) {
		var stdout, stderr bytes.Buffer
		code := execute(context.Background(), append(strings.Fields("winnow theory kappa --trials 20 --samples 5,20"), more...), &stdout, &stderr)
		return stdout.String(), stderr.String(), code
	}
	table, problem, code := do("--svg", file)
	if code != 0 || problem != "" || !strings.Contains(table, "5        banerjee") || !strings.Contains(table, "debiased") {
		t.Fatalf("exit code %d, %q, %s", code, problem, table)
	}
	if svg, err := os.ReadFile(file); err != nil || !strings.Contains(string(svg), "RMSE of κ") {
		t.Error(err)
	}
	text, _, _ := do("--json")
	var result struct {
		Dim    int
		Errors []concentration.Errors
	}
	if err := json.Unmarshal([]byte(text), &result); err != nil || result.Dim != 128 || len(result.Errors) != 8 {
		t.Fatal(err, text)
	}
	text, _, _ = do("--csv")
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) != 9 || rows[1][4] != strconv.FormatFloat(result.Errors[0].RMSE, 'g', -1, 64) {
		t.Error(err, text)
	}
	if e := result.Errors[0]; e.Estimator != "banerjee" || math.Abs(e.Bias-150) > 40 {
		t.Errorf("%+v", e)
	}
	for more, want := range map[string]string{
		"--csv --json": "contradict", "--samples 5,1": "1 samples, expected", "--samples 5.5": "whole numbers", "--kappa 0": "kappa is 0", "extra": "found the argument",
	} {
		if out, problem, code := do(strings.Fields(more)...); code != 2 || !strings.Contains(problem, want) || out != "" {
			t.Errorf("%s: exit code %d, %q", more, code, problem)
		}
	}
}
