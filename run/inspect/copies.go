package inspect

import (
	"fmt"
	"slices"
	"strings"

	"winnow/audit/suspects"
	"winnow/backbone"
	"winnow/datasets"
)

// groupCopies stores the groups of duplicates with the paths, labels and splits that their images have in d.
func (a *Report) groupCopies(d *datasets.Dataset) {
	a.Groups = make([]datasets.Duplicates, len(a.result.Groups))
	for g, rows := range a.result.Groups {
		at := make([]int, len(rows))
		for i, row := range rows {
			at[i] = a.ids[row]
		}
		a.Groups[g] = d.Duplicated(at)
	}
}

// looked holds an example of each group of duplicates: one label is likelier (settled), the labels contradict each
// other and a person must decide (look), or the labels are equal (same). A group in two splits is also in leak.
type looked struct{ settled, look, same, leak []string }

func (a *Report) groupsByKind() (l looked) {
	kept := map[int]suspects.Verdict{} // by the number of a group whose labels contradict each other
	for _, e := range a.Images {
		if e.CopyVerdict != "" {
			kept[e.CopyGroup] = e.CopyVerdict
		}
	}
	for g, group := range a.Groups {
		named := func(i int) string {
			return fmt.Sprintf("%s (%s)", group.Paths[i], a.showClassName(group.Labels[i]))
		}
		example := named(0) + " and " + named(max(1, slices.IndexFunc(group.Labels, func(label string) bool {
			return label != group.Labels[0]
		})))
		switch verdict := kept[g+1]; {
		case verdict == suspects.Look:
			l.look = append(l.look, example)
		case verdict != "" || group.LabelsVary:
			l.settled = append(l.settled, example)
		default:
			l.same = append(l.same, example)
		}
		if group.Leak {
			l.leak = append(l.leak, example)
		}
	}
	return l
}

// findProblems stores the problems of the audited images. Problems are relative to all images of paths; looks holds
// their measurements.
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

// listProblems returns the images with a problem, most suspect first, and the number of images with each problem.
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
