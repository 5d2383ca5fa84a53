package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"winnow/audit"
	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/eval"
	"winnow/filters"
	"winnow/report/page"
	"winnow/run/inspect"
)

// worstClasses is the number of classes in the visible table, and allClasses the largest number in the folded table.
const (
	worstClasses = 15
	allClasses   = 1000
)

// classTables returns a table of the first [worstClasses] rows. If there are more rows, it adds a folded table of up
// to [allClasses] rows. The rows are sorted, worst class first.
func classTables(worst, all string, head []string, rows [][]string) []page.Table {
	tables := []page.Table{{Caption: worst, Head: head, Rows: rows[:min(len(rows), worstClasses)]}}
	if len(rows) > worstClasses {
		if len(rows) > allClasses {
			all = fmt.Sprintf("%s (the first %d of %d)", all, allClasses, len(rows))
		}
		rows = rows[:min(len(rows), allClasses)]
		tables = append(tables, page.Table{Caption: all, Head: head, Rows: rows, Folded: true})
	}
	return tables
}

// describeClasses returns a section with the retrieval measures of each class.
func (r *Run) describeClasses() page.Section {
	s := page.Section{Title: "Classes"}
	list := slices.DeleteFunc(slices.Clone(r.measured.Classes), func(c eval.ClassRetrieval) bool {
		return c.Retrieval.N == 0
	})
	if len(list) == 0 {
		s.Notes = []string{"No class has two images, so retrieval cannot be measured."}
		return s
	}
	slices.SortStableFunc(list, func(a, b eval.ClassRetrieval) int {
		return cmp.Or(cmp.Compare(a.Retrieval.PrecisionAt1, b.Retrieval.PrecisionAt1),
			cmp.Compare(a.Retrieval.MAPAtR, b.Retrieval.MAPAtR))
	})
	var rows [][]string
	trained := r.trainLabels()
	for _, c := range list {
		instead := "–"
		if c.Times > 0 {
			instead = fmt.Sprintf("%s, %d of %d", r.names.Of(r.Manifest.Classes[c.Instead]), c.Times, c.Misses)
		}
		rows = append(rows, []string{
			r.names.Of(r.Manifest.Classes[c.Label]), strconv.Itoa(c.Retrieval.N),
			percentText(c.Retrieval.PrecisionAt1), percentText(c.Retrieval.Recall[8]),
			percentText(c.Retrieval.RPrecision), percentText(c.Retrieval.MAPAtR),
			strconv.Itoa(trained[c.Label]), instead,
		})
	}
	s.Tables = classTables("The classes with the lowest P@1: "+r.SplitText(), fmt.Sprintf("All %d classes", len(rows)),
		[]string{"class", "queries", "P@1 %", "R@8 %", "R-Prec %", "MAP@R %", "training images",
			"class most often found instead"}, rows)
	return s
}

// describeLabels returns a section with the audit of the training labels.
func (r *Run) describeLabels() page.Section {
	a := r.audited
	s := describeFlagged(a, "The training labels")
	s.Facts = append(s.Facts, page.Fact{Name: "scorer", Value: a.Scorer})
	if a.Why != "" {
		s.Facts = append(s.Facts, page.Fact{Name: "scorer's inputs", Value: a.Why})
	}
	called, alone := a.Called(), 0
	for _, e := range a.Images {
		if e.Unjudged {
			alone++
		}
	}
	said := fmt.Sprintf("%d; no label is flagged", len(a.Images)-alone)
	if len(called) > 0 {
		said = fmt.Sprintf("%d; %d (%.1f %%) are flagged", len(a.Images)-alone, len(called), 100*a.Rate)
	}
	s.Facts = append(s.Facts, page.Fact{Name: "images scored", Value: said})
	if alone > 0 {
		s.Facts = append(s.Facts, page.Fact{
			Name: suspects.Unjudged, Value: fmt.Sprintf("%d, alone in their class", alone),
		})
	}
	if d := a.Detection; d != nil && d.Wrong == 0 {
		s.Facts = append(s.Facts, page.Fact{
			Name: "wrong labels", Value: fmt.Sprintf("0 of %d, by the manifest's true labels%s", d.Samples,
				inspect.DescribeLeftOut(*d)),
		})
	} else if d != nil {
		share := 100 * float64(d.Wrong) / float64(max(d.Samples, 1))
		s.Facts = append(s.Facts,
			page.Fact{Name: "wrong labels",
				Value: fmt.Sprintf("%d of %d (%.1f %%), by the manifest's true labels%s", d.Wrong, d.Samples,
					share, inspect.DescribeLeftOut(*d))},
			page.Fact{Name: "ranking",
				Value: fmt.Sprintf("AUROC %.4f, AP %.4f; the most suspect 1 %% contain %.1f %% of the wrong labels, "+
					"the most suspect 5 %% contain %.1f %%, and the first N, if N are wrong, contain %.1f %%",
					d.AUROC, d.AP, 100*d.Found1, 100*d.Found5, 100*d.FoundAll)},
			page.Fact{Name: "flagged labels",
				Value: fmt.Sprintf("precision %.3f, recall %.3f, F1 %.3f; %.1f %% of the other labels are right",
					d.Precision, d.Recall, d.F1, 100*d.FilterAccuracy)})
	}
	return s
}

// explainNumbers returns definitions of the numbers on the page.
func (r *Run) explainNumbers() []page.Fact {
	list := append(retrievalDefinitions(),
		page.Fact{Name: "class most often found instead",
			Value: "the most frequent class of the nearest image among queries whose nearest image has another class"},
		page.Fact{Name: "validation",
			Value: measureText(r.Config.Validation.Measure) + " on the validation split, by its given labels"},
		page.Fact{Name: "smoothed",
			Value: fmt.Sprintf("exponential moving average, decay %g: "+
				"e₀ = x₀, eₜ = %[1]g·eₜ₋₁ + %.2g·xₜ, over the logged steps", smoothing, 1-smoothing)},
		page.Fact{Name: "the scorer", Value: scorerSentence(r.audited.Scorer)})
	list = append(list, defineFlagged(r.audited)...)
	if d := r.audited.Detection; d != nil && d.Wrong > 0 {
		list = append(list,
			page.Fact{Name: "AUROC",
				Value: "probability that a wrong label has a lower score than a right label; ties count half"},
			page.Fact{Name: "AP",
				Value: "average precision of the ranking, lowest score first, at finding wrong labels"},
			page.Fact{Name: "precision, recall, F1",
				Value: "precision: the share of the flagged labels that are wrong; " +
					"recall: the share of the wrong labels that are flagged; F1: their harmonic mean"})
	}
	if len(r.diagnoses) > 0 {
		list = append(list,
			page.Fact{Name: "κ",
				Value: "concentration of a class's unit vectors in the memory bank (von Mises–Fisher): " +
					"the larger κ is, the closer together they are. Boxes: quartiles and median over classes, " +
					"whiskers to the outermost values within 1.5 times the box's height"},
			page.Fact{Name: "share kept, threshold",
				Value: "the share of a batch's labels with scores at or above the filter's threshold for that batch"})
	}
	unseen := ""
	if r.hasUnseenClasses() && r.Split != datasets.Train {
		unseen = "; its classes have no training images"
	}
	return append(list, page.Fact{Name: "split", Value: r.SplitText() + unseen})
}

// retrievalDefinitions returns definitions of the measures that [eval.Retrieve] computes.
func retrievalDefinitions() []page.Fact {
	return []page.Fact{
		{Name: "query", Value: "an image to which all other images are ranked by cosine similarity; " +
			"the only image of a class is not a query"},
		{Name: "P@1, R@K",
			Value: "share of the queries whose nearest image, or one of whose K nearest images, has the query's class"},
		{Name: "R-Prec", Value: "share of the R nearest images that have the query's class, " +
			"where R is the number of other images in that class; mean over queries"},
		{Name: "MAP@R", Value: "1/R Σₖ relₖ·(hits among the first k)/k over the R nearest, mean over queries " +
			"(Musgrave et al., A Metric Learning Reality Check, 2020)"},
		{Name: "frozen, whitened, trained", Value: "frozen: the backbone's vectors; " +
			"whitened: as many of their principal components as the head has outputs, at equal variance; " +
			"trained: the run's embedding"},
	}
}

// scorerSentence describes a scorer in the words of its catalog.
func scorerSentence(scorer string) string {
	if s := audit.Named(scorer); s.Kind < audit.ByFilter {
		said := "Each label is scored without its own image, by " + s.Name + ": " + s.Help
		if s.Probability {
			return said + "; these scores are probabilities, 0 surely wrong, 1 surely right."
		}
		return said + "."
	}
	entry, err := filters.Find(scorer)
	if err != nil {
		return ""
	}
	text := fmt.Sprintf("Each label is scored without its own image, by %s: %s (%s",
		entry.Name, entry.Title, entry.Paper)
	if entry.Equation != "" {
		text += ", " + entry.Equation
	}
	if !entry.Probability {
		return text + "); these scores are similarities, -1 to 1."
	}
	return text + "); these scores are probabilities, 0 surely wrong, 1 surely right."
}
