package review

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/internal/hint"
	"winnow/internal/text"
)

// Exported reports how many images of a corrected manifest have each outcome.
type Exported struct {
	Path       string `json:"path"`
	Rows       int    `json:"rows"` // rows written
	Kept       int    `json:"kept"` // given label confirmed
	Dropped    int    `json:"dropped"`
	Relabelled int    `json:"relabelled"`
	Unsure     int    `json:"unsure"`    // left as given
	Disagreed  int    `json:"disagreed"` // left as given: no decision has a majority of the reviewers
	Undecided  int    `json:"undecided"` // among the audit's images or, without an audit, all images

	Changed int    `json:"picture_changed,omitempty"` // decisions not applied, because the image file changed
	Gone    int    `json:"gone"`                      // decisions about images that are not in the manifest
	Example string `json:"gone_example,omitempty"`    // one of these images

	Folder *datasets.FixedFolder `json:"folder,omitempty"` // nil: a file was written
}

// Text returns a summary of the export in lines.
func (e Exported) Text() string {
	said := fmt.Sprintf("%s: %d rows; %d images dropped, %d relabelled, %d kept as they were, %d undecided\n", e.Path,
		e.Rows, e.Dropped, e.Relabelled, e.Kept, e.Undecided)
	if e.Folder != nil {
		said += e.Folder.Text() + "\n"
	}
	if e.Unsure+e.Disagreed > 0 {
		said += fmt.Sprintf("left as given: %d unsure, %d without a majority of the reviewers\n", e.Unsure, e.Disagreed)
	}
	if e.Changed > 0 {
		said += fmt.Sprintf("not applied: decisions on %s that changed since\n", text.Plural(e.Changed, "image"))
	}
	if e.Gone > 0 {
		said += fmt.Sprintf("not applied: %d decisions on images that are not in the manifest, such as %s "+
			"(--decided lists all decisions)\n", e.Gone, e.Example)
	}
	return said
}

// Endings lists the file extensions of corrected manifests by format.
var Endings = map[datasets.Format][]string{
	datasets.CSV: {".csv"}, datasets.TSV: {".tsv", ".txt"}, datasets.JSONL: {".jsonl"},
	datasets.PRISM: {".csv", ".txt"}, datasets.COCO: {".json"},
}

// CheckOut returns an error if the extension of Out fits neither the manifest's own format nor CSV. d is the manifest;
// nil: it is read if Out is a folder.
func (f Files) CheckOut(d *datasets.Dataset) error {
	if f.Out == "" {
		return nil
	}
	if datasets.IsFolderOut(f.Out) {
		return datasets.FolderOut{Path: f.Out, By: f.By}.Check(f.Manifest, d)
	}
	if f.By != "" {
		return hint.Misused("--by is for a folder, and %s is a file: end its name in /", f.Out)
	}
	form, err := datasets.FormOf(f.Manifest)
	if ending := strings.ToLower(filepath.Ext(f.Out)); err == nil && ending != ".csv" &&
		!slices.Contains(Endings[form], ending) {
		endings := Endings[form]
		if !slices.Contains(endings, ".csv") {
			endings = append(slices.Clone(endings), ".csv")
		}
		err = hint.Misused("%q does not end in %s; to write other formats, use winnow data import", f.Out,
			strings.Join(endings, " or "))
	}
	return err
}

// Inputs lists the input files, which an export must not overwrite.
func (f Files) Inputs() []string { return []string{f.Manifest.Path(), f.Audit, f.decisionsFile()} }

// collectCorrections returns a consistent snapshot of the decisions to apply, by sample, and their counts.
func (r *Reviewer) collectCorrections() (map[int]datasets.Decision, Exported) {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	d, do := r.decided, map[int]datasets.Decision{}
	for id, o := range d.outcome {
		switch o.Action {
		case drop:
			do[r.table.images[id].sample] = datasets.Decision{Drop: true}
		case relabel:
			do[r.table.images[id].sample] = datasets.Decision{Label: o.Label}
		}
	}
	c := d.progress.Whole
	e := Exported{Rows: len(d.outcome) - c[drop], Kept: c[keep], Dropped: c[drop], Relabelled: c[relabel],
		Unsure: c[unsure], Disagreed: c[disagreed], Undecided: c[undecided], Gone: len(d.gone), Changed: d.countStale()}
	if r.table.audited > 0 {
		e.Undecided = d.progress.Counts[undecided]
	}
	if e.Gone > 0 {
		e.Example = d.gone[e.Gone-1].Path
	}
	return do, e
}

// writeFolder writes fixed class folders to Out. It does not write the same decisions twice.
func (r *Reviewer) writeFolder() (Exported, error) {
	do, e := r.collectCorrections()
	if r.written.Folder == nil || !maps.Equal(do, r.writtenFor) {
		_, f, err := datasets.FixFolder(context.Background(), datasets.FolderOut{Path: r.Out, By: r.By,
			Moving: r.Moving}, r.ManifestFile, r.Manifest, do)
		if err != nil {
			return e, fmt.Errorf("review: %w", err)
		}
		e.Path, e.Folder = f.Folder, f
		r.written, r.writtenFor = e, do
	}
	return r.written, nil
}

// Write writes the corrected manifest to Out atomically.
func (r *Reviewer) Write() (e Exported, err error) {
	if r.Out == "" {
		return e, refuseWith(http.StatusNotFound, "the server was started without a file to write: "+
			"download the manifest instead")
	}
	r.exporting.Lock()
	defer r.exporting.Unlock()
	if datasets.IsFolderOut(r.Out) {
		return r.writeFolder()
	}
	do, e := r.collectCorrections()
	_, err = datasets.FixTo(context.Background(), r.Out, r.ManifestFile, r.Manifest, do)
	if err != nil {
		return e, fmt.Errorf("review: %w", err)
	}
	e.Path = r.Out
	return e, nil
}

func (r *Reviewer) postExport(struct{}) (int, any, error) {
	e, err := r.Write()
	return http.StatusOK, e, err
}

// getExport sends the corrected manifest in its own format.
func (r *Reviewer) getExport(w http.ResponseWriter, _ *http.Request) {
	var file bytes.Buffer
	format, err := datasets.FormOf(r.ManifestFile)
	if err == nil {
		do, _ := r.collectCorrections()
		_, err = datasets.Fix(&file, r.ManifestFile, r.Manifest, do)
	}
	if err != nil {
		answerError(w, err)
		return
	}
	ending := Endings[format][0]
	kind := cmp.Or(mime.TypeByExtension(ending), "text/plain; charset=utf-8")
	sendAttachment(w.Header(), "fixed"+ending, kind)
	_, _ = w.Write(file.Bytes()) // the client may be gone
}

func sendAttachment(h http.Header, name, kind string) {
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	h.Set("Cache-Control", "no-store")
}

// writeList writes all decisions as CSV: a row for each decision or note, in the order of the manifest and then of the
// reviewers' names. The column outcome is the combined result of all decisions about the image. Texts are escaped so
// that spreadsheets do not read them as formulas; the column spreadsheet marks this. Decisions about images that are
// not in the manifest follow at the end, without an outcome.
func (r *Reviewer) writeList(w io.Writer) error {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	out, cell := csv.NewWriter(w), suspects.Cell
	lines := [][]string{{"path", "given_label", "outcome", "outcome_label", "reviewer", "decision", "decision_label",
		"note", "at", suspects.SheetColumn}}
	add := func(path, given string, o outcome, reviewer string, d decision, note string) {
		lines = append(lines, []string{cell(path), cell(given), string(o.Action), cell(o.Label), cell(reviewer),
			string(d.Action), cell(d.Label), cell(note), d.At.Format(time.RFC3339), suspects.SheetMark})
	}
	for _, id := range r.table.place {
		votes := slices.SortedFunc(slices.Values(r.decided.votes[id]), func(a, b vote) int {
			return strings.Compare(a.Reviewer, b.Reviewer)
		})
		for _, v := range votes {
			d := cmp.Or(v.before, newDecision(v.Image))
			if d.Action == undecided && v.Note == "" {
				continue
			}
			add(v.Path, r.table.images[id].Given, r.decided.outcome[id], v.Reviewer, *d, v.Note)
		}
	}
	for _, i := range r.decided.gone {
		add(i.Path, i.Given, outcome{}, i.Reviewer, *newDecision(i), i.Note)
	}
	return out.WriteAll(lines)
}

// getList sends the list of decisions.
func (r *Reviewer) getList(w http.ResponseWriter, _ *http.Request) {
	sendAttachment(w.Header(), "decided.csv", "text/csv; charset=utf-8")
	_ = r.writeList(w) // the client may be gone
}

// savingAt is the URL path of the decisions file.
const savingAt = "/api/decisions.db"

// getDecisions sends a copy of the decisions file, with the history.
func (r *Reviewer) getDecisions(w http.ResponseWriter, _ *http.Request) {
	f, err := os.CreateTemp("", "winnow-decisions-*.db")
	if err != nil {
		answerError(w, err)
		return
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if err := r.Decisions.Copy(f.Name()); err != nil {
		answerError(w, err)
		return
	}
	sendAttachment(w.Header(), filepath.Base(r.Decisions.Path), "application/vnd.sqlite3")
	_, _ = io.Copy(w, f) // the client may be gone
}
