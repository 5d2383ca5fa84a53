package review

import (
	"fmt"
	"io"
	"net/http"

	"winnow/datasets"
	"winnow/internal/atomicfile"
)

// Exported counts the images of a mended manifest by their decisions.
type Exported struct {
	Path       string `json:"path"`
	Rows       int    `json:"rows"` // written
	Kept       int    `json:"kept"` // looked at and found right
	Dropped    int    `json:"dropped"`
	Relabelled int    `json:"relabelled"`
	Unsure     int    `json:"unsure"`    // left as given
	Disagreed  int    `json:"disagreed"` // left as given: no decision has a majority of the reviewers
	Undecided  int    `json:"undecided"` // of the audit, or without one of the manifest
}

// Left returns a line on the images that were decided and left as given all the same; "" for none.
func (e Exported) Left() string {
	if e.Unsure+e.Disagreed == 0 {
		return ""
	}
	return fmt.Sprintf("left as given: %d unsure, %d on which no decision has a majority of the reviewers\n", e.Unsure, e.Disagreed)
}

// mending returns the decisions to carry out in the manifest, all of one moment.
func (r *Reviewer) mending() (map[int]datasets.Decision, Exported) {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	d, do := r.decided, map[int]datasets.Decision{}
	var e Exported
	for image, action := range d.action {
		switch action {
		case drop:
			do[image] = datasets.Decision{Drop: true}
			e.Dropped++
		case relabel:
			do[image] = datasets.Decision{Label: r.table.classes[d.label[image]]}
			e.Relabelled++
		case keep:
			e.Kept++
		case unsure:
			e.Unsure++
		case disagreed:
			e.Disagreed++
		}
	}
	e.Undecided = d.counts[undecided]
	if len(r.table.image) == 0 {
		e.Undecided = len(d.action) - e.Kept - e.Dropped - e.Relabelled - e.Unsure - e.Disagreed
	}
	e.Rows = len(d.action) - e.Dropped
	return do, e
}

// WriteMended writes the mended manifest: dropped images are left out, relabelled ones have their new label, everything else
// is unchanged to the byte.
func (r *Reviewer) WriteMended(w io.Writer) (Exported, error) {
	do, e := r.mending()
	_, err := datasets.Mend(w, r.ManifestFile, r.Manifest, do)
	return e, err
}

// Export writes the mended manifest to Out, completely or not at all.
func (r *Reviewer) Export() (e Exported, err error) {
	if r.Out == "" {
		return e, refuse(http.StatusNotFound, "the server was started without --out: download the manifest instead")
	}
	err = atomicfile.Write(r.Out, func(w io.Writer) (err error) {
		e, err = r.WriteMended(w)
		return err
	})
	if err != nil {
		return e, fmt.Errorf("review: %w", err)
	}
	e.Path = r.Out
	return e, nil
}

func (r *Reviewer) postExport(struct{}) (int, any, error) {
	r.exporting.Lock()
	defer r.exporting.Unlock()
	e, err := r.Export()
	return http.StatusOK, e, err
}

// Endings are the file endings of each format of manifests.
var Endings = map[datasets.Format][]string{datasets.CSV: {".csv"}, datasets.TSV: {".tsv", ".txt"}, datasets.JSONL: {".jsonl"}, datasets.PRISM: {".csv", ".txt"}, datasets.COCO: {".json"}, datasets.LabelStudio: {".csv"}}

// getExport sends the mended manifest. An error before the first byte is answered; a later one breaks the answer off, so that
// half a manifest is not mistaken for a whole one.
func (r *Reviewer) getExport(w http.ResponseWriter, _ *http.Request) {
	form, err := datasets.FormOf(r.ManifestFile)
	if err != nil {
		answerError(w, err)
		return
	}
	h := w.Header()
	h.Set("Content-Disposition", `attachment; filename="mended`+Endings[form][0]+`"`)
	h.Set("Cache-Control", "no-store")
	kind := "text/csv; charset=utf-8"
	switch form {
	case datasets.COCO:
		kind = "application/json"
	case datasets.JSONL:
		kind = "application/jsonl"
	case datasets.TSV:
		kind = "text/tab-separated-values; charset=utf-8"
	}
	out := &lateType{ResponseWriter: w, kind: kind}
	switch _, err := r.WriteMended(out); {
	case err != nil && !out.begun:
		h.Del("Content-Disposition")
		answerError(w, err)
	case err != nil:
		panic(http.ErrAbortHandler)
	}
}

// lateType sets the content type with the first byte.
type lateType struct {
	http.ResponseWriter
	kind  string
	begun bool
}

func (l *lateType) Write(p []byte) (int, error) {
	if !l.begun {
		l.Header().Set("Content-Type", l.kind)
		l.begun = true
	}
	return l.ResponseWriter.Write(p)
}
