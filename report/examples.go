package report

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"winnow/datasets/classnames"
	"winnow/report/page"
	"winnow/run/folder"
	"winnow/run/measure"
)

// exampleSide is the largest width of the pictures on a page of examples, in pixels.
const exampleSide = 128

// Retrieval returns the page that shows what images of a run, or of a store, find.
func Retrieval(ctx context.Context, h Host, run *folder.Run, e measure.Examples,
	names classnames.Names) (page.Report, error) {
	what := "the features of " + filepath.Base(run.Dir)
	if run.Head != nil {
		what = "the run " + filepath.Base(run.Dir)
	}
	summary := e.Summary()
	report := page.Report{
		Command: "retrieve", Title: "What images find in " + what,
		Verdict: []string{strings.ToUpper(summary[:1]) + summary[1:] + "."},
		Facts: []page.Fact{
			{Name: "queries", Value: fmt.Sprintf("images of %s that share their label with another image; "+
				"they search %d images, without the query itself", e.Split, e.Gallery)},
			{Name: "hit", Value: "an image with the query's label in the manifest"},
			{Name: "similarity", Value: "cosine of the two vectors"},
		},
	}
	if e.Choice == measure.ChooseWorst {
		report.Facts = append(report.Facts, page.Fact{Name: "worst", Value: fmt.Sprintf("the fewest hits among the "+
			"%d nearest; with equally many, those whose nearest miss is most similar", e.K)})
	}
	if run.Head != nil {
		report.Facts = append(report.Facts, page.Fact{Name: "head", Value: filepath.Join(run.Dir, run.HeadFile)})
	}
	report.Facts = append(report.Facts, page.Fact{Name: "features", Value: run.Store.Dir},
		page.Fact{Name: "manifest", Value: run.ManifestFile.String()}, page.Fact{Name: "winnow", Value: h.Winnow})
	files, err := pictureFiles(ctx, h, run, e.Paths(), exampleSide)
	report.Queries = queryCards(e, names, files)
	return report, err
}

// queryCards returns cards of the queries, with pictures found by path.
func queryCards(e measure.Examples, names classnames.Names, files map[string][]byte) (list []page.QueryCard) {
	for _, q := range e.Queries {
		query := page.Picture{Data: files[q.Path], Caption: names.Of(q.Label), File: q.Path}
		card := page.QueryCard{Query: query}
		for _, n := range q.Nearest {
			card.Nearest = append(card.Nearest, page.Picture{
				Data: files[n.Path], Caption: names.Of(n.Label),
				Note: fmt.Sprintf("similarity %.3f", n.Similarity), File: n.Path, Good: n.Hit,
			})
		}
		list = append(list, card)
	}
	return list
}
