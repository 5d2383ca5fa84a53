package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/suspects"
	"winnow/internal/hint"
	"winnow/search"
)

// TruthColumn is the column of a list that holds the true labels.
const TruthColumn = "true_label"

// Open reads a list of winnow audit and the vectors of its images from a feature store or an index. features "" is the
// folder NAME.features next to NAME of the list, or no vectors if there is none. It returns the folder used.
func Open(ctx context.Context, list, features string) (*Stage, string, error) {
	entries, err := suspects.Read(list)
	if err != nil {
		return nil, "", err
	}
	beside := strings.TrimSuffix(list, filepath.Ext(list)) + ".features"
	if info, err := os.Stat(beside); features == "" && err == nil && info.IsDir() {
		features = beside
	}
	var x blas32.General
	if features != "" {
		if x, err = listVectors(features, entries); err != nil {
			return nil, "", err
		}
	}
	s, err := NewStage(ctx, entries, x)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", list, err)
	}
	changed := 0
	for _, e := range entries {
		if e.Changed {
			changed++
		}
	}
	s.Note = suspects.Warning(list, changed)
	return s, features, nil
}

// listVectors returns the vectors of a list's images. Images without a vector have zeros; without any it is an error.
func listVectors(dir string, list []suspects.Suspect) (x blas32.General, err error) {
	g, err := search.OpenGallery(dir)
	if err != nil {
		return x, err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	paths := make([]string, len(list))
	for i := range list {
		paths[i] = list[i].Path
	}
	x, absent, err := g.Rows(paths)
	if err == nil && absent == len(list) {
		err = hint.With(fmt.Errorf("rehearsal: %s: has a vector of none of the list's %d images, such as %q", dir,
			absent, paths[0]), "name the features that the audit was made of")
	}
	return x, err
}

// Text returns the review as a table.
func (p Played) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d images, %d with a wrong label; %s, learning from %s\n\n", p.Images, p.Wrong, p.Goal,
		orNone(p.Features))
	fmt.Fprintf(&b, "%9s %7s %8s %7s   %-28s %s\n", "decisions", "found", "by list", "random", "wrong in all (95 %)",
		"left (95 %, at all times)")
	for _, q := range p.Points {
		fmt.Fprintf(
			&b,
			"%9d %7d %8d %7d   %-28s %s\n",
			q.Decisions,
			q.Found,
			q.FoundByList,
			q.Draws,
			formatEstimate(
				q.Wrong.Estimate,
				q.Wrong.Low,
				q.Wrong.High,
			),
			formatEstimate(q.Always.Estimate, q.Always.Low, q.Always.High),
		)
	}
	b.WriteByte('\n')
	for _, r := range p.Reached {
		if r.Decisions != nil && r.ByList != nil {
			fmt.Fprintf(&b, "%.0f %% of the wrong labels are found after %d decisions; down the list after %d\n",
				100*r.Share, *r.Decisions, *r.ByList)
		}
	}
	return b.String()
}

func formatEstimate(estimate, low, high float64) string {
	return fmt.Sprintf("%.0f (%.0f to %.0f)", estimate, low, high)
}

func orNone(features string) string {
	if features == "" {
		return "the list alone, without features"
	}
	return features
}
