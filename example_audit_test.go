package winnow_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"winnow/audit"
	"winnow/audit/suspects"
)

// Audits a labelled set: estimates the noise rate, flags labels and suggests others. winnow studio opens the list.
func Example_audit() {
	set, truth := drawn(5, 10, 40, 0.2)
	found, err := audit.Run(context.Background(), set, audit.Options{Whiten: true})
	if err != nil {
		log.Fatal(err)
	}
	called, right, mended := 0, 0, 0
	for _, s := range found.Suspects {
		if s.Flagged {
			called++
			if set.Labels[s.Row] != truth[s.Row] {
				right++
			}
			if s.SuggestedClass == truth[s.Row] {
				mended++
			}
		}
	}
	fmt.Printf("of %d labels %.1f are wrong by the estimate\n", set.Len(), found.Rate)
	fmt.Printf("of those called wrong %.1f are, and %.1f get the right one suggested\n", share(right, called),
		share(mended, called))

	paths, classes := make([]string, set.Len()), make([]string, 10)
	for i := range paths {
		paths[i] = fmt.Sprintf("%03d.jpg", i)
	}
	for k := range classes {
		classes[k] = fmt.Sprint("class ", k)
	}
	dir, err := os.MkdirTemp("", "winnow")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := suspects.WriteFile(filepath.Join(dir, "suspects.csv"), found.Name(paths, classes)); err != nil {
		log.Fatal(err)
	}
	// Output:
	// of 400 labels 0.2 are wrong by the estimate
	// of those called wrong 1.0 are, and 0.9 get the right one suggested
}

func share(n, of int) float64 { return float64(n) / float64(of) }
