package check

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"winnow/internal/atomicfile"
	"winnow/internal/hint"
	"winnow/internal/regular"
)

// Baseline is a file of known findings. Each finding is on its own line, so that a version control system shows what
// was added.
type Baseline struct {
	Version  int     `json:"winnow_check_baseline"`
	Findings []known `json:"findings"`
}

// known is a finding of a baseline. Only the fingerprint is compared; the rest is for the reader.
type known struct {
	Check       string   `json:"check"`
	Paths       []string `json:"paths"`
	Fingerprint string   `json:"fingerprint"`
}

// largestBaseline is the largest accepted size of a baseline, in bytes.
const largestBaseline = 1 << 30

// ReadBaseline reads a baseline. With update, the file may be missing.
func ReadBaseline(path string, update bool) (*Baseline, error) {
	b := &Baseline{Version: 1}
	data, err := regular.ReadFile(path, largestBaseline)
	switch {
	case errors.Is(err, fs.ErrNotExist) && update:
		return b, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, hint.With(fmt.Errorf("check: baseline: %s does not exist", path), "write it with %s",
			"--update-baseline")
	case err != nil:
		return nil, fmt.Errorf("check: baseline: %w", err)
	}
	in := json.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	b.Version = 0
	if err := in.Decode(b); err != nil || b.Version != 1 {
		return nil, fmt.Errorf("check: baseline: %s: found another file (%v), expected a baseline of version 1 that "+
			"winnow check wrote", path, cmp.Or(err, fmt.Errorf("version %d", b.Version)))
	}
	return b, nil
}

// Baseline leaves out the findings that a baseline knows.
func (r *Result) Baseline(b *Baseline) {
	old, found := map[string]bool{}, map[string]bool{}
	for _, k := range b.Findings {
		old[k.Fingerprint] = true
	}
	for _, f := range r.all {
		found[f.Fingerprint] = true
	}
	for fingerprint := range old {
		if !found[fingerprint] {
			r.Gone++
		}
	}
	r.Known = r.keepFindings(func(f Finding) bool { return f.Check == wrong || !old[f.Fingerprint] })
}

// WriteBaseline writes all findings, also those that are not listed, as the new baseline.
func (r *Result) WriteBaseline(path string) (*Baseline, error) {
	b := &Baseline{Version: 1}
	for _, f := range r.all {
		if f.Check != wrong {
			b.Findings = append(b.Findings, known{f.Check, f.Paths, f.Fingerprint})
		}
	}
	slices.SortFunc(b.Findings, func(x, y known) int {
		return cmp.Or(cmp.Compare(x.Check, y.Check), slices.Compare(x.Paths, y.Paths),
			cmp.Compare(x.Fingerprint, y.Fingerprint))
	})
	return b, atomicfile.Write(path, func(w io.Writer) error {
		fmt.Fprint(w, "{\"winnow_check_baseline\": 1, \"findings\": [")
		for i, k := range b.Findings {
			line, err := json.Marshal(k)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "%s\n%s", map[bool]string{true: ","}[i > 0], line)
		}
		_, err := fmt.Fprintln(w, "\n]}")
		return err
	})
}
