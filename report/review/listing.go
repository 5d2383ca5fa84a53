package review

import (
	"encoding/csv"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"winnow/audit/suspects"
)

// writeList writes what each reviewer decided as CSV: a row for each decision or note, in the order of the
// manifest and of the reviewers' names. outcome is the outcome of all decisions about the image. Names and
// notes are protected so that spreadsheets do not read them as formulas. Decisions about images that the manifest does
// not have come last, without an outcome.
func (r *Reviewer) writeList(w io.Writer) error {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	d, t := r.decided, r.table
	out := csv.NewWriter(w)
	header := []string{"path", "given_label", "outcome", "outcome_label", "reviewer", "decision", "decision_label",
		"note", "at"}
	if err := out.Write(header); err != nil {
		return err
	}
	for image, votes := range d.votes {
		image := int32(image)
		votes = slices.SortedFunc(slices.Values(votes), func(a, b vote) int {
			return strings.Compare(d.reviewers[a.reviewer], d.reviewers[b.reviewer])
		})
		for _, v := range votes {
			if v.action == undecided && v.note == "" {
				continue
			}
			err := out.Write([]string{
				t.path(image), t.label(image), string(actionNames[d.action[image]]), d.labelName(d.label[image]),
				suspects.Cell(d.reviewers[v.reviewer]), string(actionNames[v.action]), d.labelName(v.label),
				suspects.Cell(v.note), time.UnixMilli(v.at).UTC().Format(time.RFC3339),
			})
			if err != nil {
				return err
			}
		}
	}
	for _, i := range d.gone { // they have no outcome: the manifest does not have the image
		err := out.Write([]string{i.Path, i.Given, "", "", suspects.Cell(i.Reviewer), string(i.Action), i.Label,
			suspects.Cell(i.Note), i.At.UTC().Format(time.RFC3339)})
		if err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// getList sends the list of decisions.
func (r *Reviewer) getList(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="decided.csv"`)
	h.Set("Cache-Control", "no-store")
	_ = r.writeList(w) // the client may be gone
}
