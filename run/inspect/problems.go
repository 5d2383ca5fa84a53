package inspect

import (
	"fmt"
	"strings"

	"winnow/audit/suspects"
	"winnow/backbone"
)

// findProblems tells the problems of the judged pictures. They are problems among all pictures of paths, which looks
// are of.
func (a *Report) findProblems(paths []string, looks []backbone.Look) {
	found := map[string][]backbone.Found{}
	for i, list := range backbone.FindProblems(looks) {
		if len(list) > 0 {
			found[paths[i]] = list
		}
	}
	for i := range a.Images {
		for _, f := range found[a.Images[i].Path] {
			a.Images[i].Problems = append(a.Images[i].Problems, suspects.Problem{Kind: string(f.Problem), Why: f.Why})
		}
	}
	a.Looked = true
}

// listProblems lists the images with a problem, most suspect first, and says how many have each.
func (a *Report) listProblems() (list []string, said string) {
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
