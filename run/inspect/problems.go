package inspect

import (
	"context"
	"fmt"
	"strings"

	"winnow/audit/suspects"
	"winnow/backbone"
	"winnow/features"
	"winnow/run/extraction"
)

// findProblems tells the problems of the judged pictures. They are problems among all pictures of the extraction, e.
func (a *Report) findProblems(ctx context.Context, e *extraction.Extraction, store *features.Store) error {
	looks, err := e.Looks(ctx, store, nil)
	if err != nil {
		return err
	}
	found := map[string][]backbone.Found{}
	for i, list := range backbone.FindProblems(looks) {
		if len(list) > 0 {
			found[e.Paths[i]] = list
		}
	}
	for i := range a.Images {
		for _, f := range found[a.Images[i].Path] {
			a.Images[i].Problems = append(a.Images[i].Problems, suspects.Problem{Kind: string(f.Problem), Why: f.Why})
		}
	}
	a.Looked = true
	return nil
}

// problems lists the images with a problem, most suspect first, and says how many have each.
func (a *Report) problems() (list []string, said string) {
	count := map[string]int{}
	for _, e := range a.Images {
		if len(e.Problems) > 0 {
			list = append(list, e.Path)
		}
		for _, p := range e.Problems {
			count[p.Kind]++
		}
	}
	var parts []string
	for _, p := range backbone.Problems {
		if n := count[string(p)]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, p))
		}
	}
	return list, strings.Join(parts, ", ")
}
