package inspect

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"winnow/audit"
	"winnow/audit/findings"
	"winnow/audit/suspects"
	"winnow/backbone"
	"winnow/datasets"
)

// samePictures returns how an audit compares pictures: ids are the positions in d of the rows of the set.
func samePictures(root fs.FS, d *datasets.Dataset, ids []int) func(context.Context, []audit.Pair) ([]bool, error) {
	return func(ctx context.Context, pairs []audit.Pair) ([]bool, error) {
		files := make([][2]string, len(pairs))
		for i, p := range pairs {
			files[i] = [2]string{d.Samples[ids[p.A]].Path, d.Samples[ids[p.B]].Path}
		}
		return backbone.SamePictures(ctx, root, files)
	}
}

// hashesOf returns the hashes of pictures, as they are and mirrored; ids are their positions.
func hashesOf(looks []backbone.Look, ids []int) [][2]findings.Hash {
	list := make([][2]findings.Hash, len(ids))
	for i, id := range ids {
		if h := looks[id].Hash; h != (backbone.Hash{}) {
			list[i] = [2]findings.Hash{findings.Hash(h), findings.Hash(h.Mirrored())}
		}
	}
	return list
}

// groupCopies names the groups of copies, with the splits that images have in d.
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

// looked counts the groups of copies by what is to be done about them, with an example of each.
type looked struct{ settled, look, same, leak []string }

func (a *Report) groupsByKind() (l looked) {
	kept := map[int]suspects.Verdict{} // of groups whose labels contradict
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
