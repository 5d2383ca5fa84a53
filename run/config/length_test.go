package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLengthByImages(t *testing.T) {
	tuned := []string{"finetune.weights=all"}
	for name, c := range map[string]struct {
		settings                []string
		images                  int
		length, every, patience string
	}{
		"few images":       {tuned, 100, "20 epochs", "1 epochs", "120"},
		"some":             {tuned, 3000, "20 epochs", "1 epochs", "4"},
		"many":             {tuned, 60_000, "3 epochs", "0.16666666666666666 epochs", "4"},
		"very many":        {tuned, 1_000_000, "2 epochs", "0.01 epochs", "4"},
		"none":             {tuned, 0, "20 epochs", "1 epochs", "12000"},
		"given":            {append(tuned, "length=7 epochs"), 60_000, "7 epochs", "1 epochs", "0"},
		"steps":            {append(tuned, "length=7 steps"), 60_000, "7 steps", "1 epochs", "0"},
		"asked for":        {[]string{"length=auto"}, 3000, "20 epochs", "1 epochs", "4"},
		"own patience":     {append(tuned, "validation.patience=2"), 3000, "20 epochs", "1 epochs", "2"},
		"own validation":   {append(tuned, "validation.every=2 epochs"), 60_000, "3 epochs", "2 epochs", "4"},
		"in steps":         {append(tuned, "validation.every=10 steps"), 60_000, "3 epochs", "10 steps", "4"},
		"a head":           {nil, 60_000, "20 epochs", "1 epochs", "0"},
		"another method":   {append(tuned, "method=co-teaching"), 3000, "20 epochs", "1 epochs", "0"},
		"frozen, by words": {[]string{"finetune.weights=none"}, 3000, "20 epochs", "1 epochs", "0"},
	} {
		t.Run(name, func(t *testing.T) {
			run, err := Load("", c.settings)
			if err != nil {
				t.Fatal(err)
			}
			run.ResolveLength(c.images)
			flat := Flatten(run)
			found := []string{flat["length"], flat["validation.every"], flat["validation.patience"]}
			if diff := cmp.Diff([]string{c.length, c.every, c.patience}, found); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What a run leaves is read again as it was used: --resume chooses nothing anew.
func TestLengthKept(t *testing.T) {
	run, err := Load("", []string{"finetune.weights=all", "data.model=m"})
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Validate(); err != nil {
		t.Fatal(err)
	}
	before, err := Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Parse("config.yaml", before, nil); err != nil || again.Length != AutoLength {
		t.Errorf("%v, %v: an automatic length is lost on paper", again.Length, err)
	}
	run.ResolveLength(60_000)
	after, err := Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("config.yaml", after, nil)
	if err != nil {
		t.Fatal(err)
	}
	again.ResolveLength(100)
	if diff := cmp.Diff(Flatten(run), Flatten(again)); diff != "" {
		t.Error(diff)
	}
	if _, err := Load("", []string{"length=autos"}); err == nil {
		t.Error("a misspelt length is taken")
	}
}
