package main

import (
	"strings"
	"testing"
)

// TestTheory checks the table, and that misuse prints one line and exits with 2.
func TestTheory(t *testing.T) {
	args := []string{"papers", "theory", "--noise-rate", "0.3", "--classes", "10", "--each", "5", "--eta", "1.5, 2",
		"--gamma", "1"}
	code, text, errs := call(t.Context(), args...)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	holds(t, strings.Join(strings.Fields(text), " "),
		"q₊: same true class, labels differ 50.00 % 49.00 % 51.00 % 000 eq. 8", "with w₋ = 0.08889 instead of 1/K = "+
			"0.1 51.43 %", "η = 1.5 34.89 % 42.26 % 29.10 % holds", "η = 2 24.86 % 29.29 % 22.47 % exceeded",
		"γ = 1 62.86 %", "no limit", "anchor = negative ≠ positive (inverted) 3.81 %")
	for line, want := range map[string]string{
		"--classes 10":                                    "--noise-rate",
		"--noise-rate 0.1":                                "--classes missing",
		"--noise-rate 1 --classes 10":                     "noise rate is 1, expected 0 ≤ rate < 1",
		"--noise-rate 0.1 --classes 1":                    "1 classes, expected 2",
		"--noise-rate 0.1 --classes 10 --each 0":          "--each: found 0, expected 2 or more",
		"--noise-rate 0.1 --classes 10 --eta 2,,3":        `--eta: "" is not a number`,
		"--noise-rate 0.1 --classes 10 --gamma 0":         "skew γ is 0, expected 0 < γ ≤ 1",
		"--noise-rate 0.1 --classes 10 --eta 0.5 surplus": `found the argument "surplus"`,
	} {
		code, out, errs := call(t.Context(), append([]string{"papers", "theory"}, strings.Fields(line)...)...)
		if code != 2 || out != "" || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: exit code %d: %s%s, expected 2 and one line with %q", line, code, out, errs, want)
		}
	}
}
