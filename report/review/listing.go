package review

import (
	"encoding/csv"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"winnow/audit/suspects"
	"winnow/report/review/decisions"
)

// writeList writes what each reviewer decided as CSV: a row for each decision or note, in the order of the manifest and
// of the reviewers' names. outcome is the outcome of all decisions about the image. The column tags is there if an
// image has some. Paths, labels, names, notes and tags are protected so that spreadsheets do not read them as formulas;
// the column spreadsheet marks this. Decisions about images that the manifest does not have come last, without an
// outcome.
func (r *Reviewer) writeList(w io.Writer) error {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	d, t := r.decided, r.table
	out := csv.NewWriter(w)
	header := []string{"path", "given_label", "outcome", "outcome_label", "reviewer", "decision", "decision_label",
		"note", "at", suspects.SheetColumn}
	some := len(d.tags) > 0 || slices.ContainsFunc(d.gone, func(i decisions.Image) bool { return len(i.Tags) > 0 })
	if some {
		header = append(header, tagColumn)
	}
	if err := out.Write(header); err != nil {
		return err
	}
	write := func(path, given, outcome, label, reviewer, decision, decided, note string, at time.Time,
		tags []string) error {
		cell := suspects.Cell
		record := []string{cell(path), cell(given), outcome, cell(label), cell(reviewer), decision,
			cell(decided), cell(note), at.UTC().Format(time.RFC3339), suspects.SheetMark}
		if some {
			record = append(record, cell(joinTags(tags)))
		}
		return out.Write(record)
	}
	for image, votes := range d.votes {
		image := int32(image)
		votes = slices.SortedFunc(slices.Values(votes), func(a, b vote) int {
			return strings.Compare(d.reviewers[a.reviewer], d.reviewers[b.reviewer])
		})
		written := false
		for _, v := range votes {
			if v.was != undecided { // about a picture that has changed since
				v.action, v.label = v.was, v.wasLabel
			}
			if v.action == undecided && v.note == "" && (written || len(d.tags[image]) == 0) {
				continue
			}
			written = true
			err := write(t.getImagePath(image), t.nameGivenLabel(image), string(actionNames[d.action[image]]),
				d.labelName(d.label[image]), d.reviewers[v.reviewer], string(actionNames[v.action]),
				d.labelName(v.label), v.note, time.UnixMilli(v.at), d.tags[image])
			if err != nil {
				return err
			}
		}
	}
	for _, i := range d.gone { // they have no outcome: the manifest does not have the image
		err := write(i.Path, i.Given, "", "", i.Reviewer, string(i.Action), i.Label, i.Note, i.At, i.Tags)
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
