package main

import (
	"encoding/json"
	"strings"
	"testing"

	"winnow/papers/cost"
)

func TestCost(t *testing.T) {
	needRuntime(t)
	code, text, errs := call(t.Context(), "cost", "--inputs", "16", "--dim", "8", "--classes", "10", "--images", "8", "--bank", "40", "--batch", "4x2", "--steps", "4", "--repeat", "2", "--json", "--quiet")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	var result cost.Result
	if err := json.Unmarshal([]byte(text), &result); err != nil || len(result.Rows) != len(cost.Variants) {
		t.Fatal(err, text)
	}
	for _, row := range result.Rows {
		bare := row.Filter == "none"
		if row.StepMillis.N != 2 || !(row.StepMillis.Least > 0) || row.Kept != 1 || (row.Ratio == 1 && row.Added == 0) != bare || (len(row.Paper) == 0) != bare {
			t.Errorf("%+v", row)
		}
		if row.Loss == "mcl" && row.Bank != 40 || row.Loss == "soft_triple" && (row.Bank == 0) != (bare || row.Filter == "proxysim") {
			t.Errorf("%s with %s has a bank of %d", row.Loss, row.Filter, row.Bank)
		}
	}
	if got := result.Rows[1].Paper["SOP"]; got.Ratio < 1.05 || got.Ratio > 1.06 || got.Added < 19 || got.Added > 20 {
		t.Errorf("the paper's %+v", got)
	}
	for more, want := range map[string]string{"--losses nix": `found "nix"`, "--steps 0": "--steps: found 0", "--rate 1": "rate", "--batch 3": "batch", "extra": "extra"} {
		if code, out, errs := call(t.Context(), append([]string{"cost"}, strings.Fields(more)...)...); code != 2 || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%s: exit code %d: %s", more, code, errs)
		}
	}
}
