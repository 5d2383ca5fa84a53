package review

import (
	"cmp"
	"fmt"
	"io"
	"net/http"

	"winnow/datasets"
	"winnow/internal/atomicfile"
	"winnow/internal/text"
	"winnow/report/reply"
)

// Exported counts the images of a corrected manifest by their decisions.
type Exported struct {
	Path       string `json:"path"`
	Rows       int    `json:"rows"` // rows written
	Kept       int    `json:"kept"` // found right
	Dropped    int    `json:"dropped"`
	Relabelled int    `json:"relabelled"`
	Unsure     int    `json:"unsure"`    // left as given
	Disagreed  int    `json:"disagreed"` // left as given: no decision has a majority of the reviewers
	Undecided  int    `json:"undecided"` // of the audit's images or, without an audit, of the manifest's

	Changed int `json:"picture_changed,omitempty"` // images that changed since they were decided: not applied

	Gone    int    `json:"gone"`                   // decisions about images that the manifest does not have
	Example string `json:"gone_example,omitempty"` // one of these images

	Agreement *agreement `json:"agreement,omitempty"` // of reviewers about the same images

	Studio *studio `json:"label_studio,omitempty"` // for tasks: how to set up Label Studio
}

// Left returns lines about the images that were decided but left as given, and about decisions on images that the
// manifest does not have; "" if there are none.
func (e Exported) Left() (lines string) {
	if e.Unsure+e.Disagreed > 0 {
		lines = fmt.Sprintf("left as given: %d unsure, %d without a majority of the reviewers\n", e.Unsure, e.Disagreed)
	}
	if e.Changed > 0 {
		lines += fmt.Sprintf("not applied: decisions on %s that changed since\n", text.Plural(e.Changed, "picture"))
	}
	if e.Gone > 0 {
		lines += fmt.Sprintf("not applied: %d decisions on images that are not in the manifest, such as %s "+
			"(--decided lists "+
			"all decisions)\n", e.Gone, e.Example)
	}
	return lines
}

// collectCorrections returns the decisions to apply to the manifest, all from the same moment.
func (r *Reviewer) collectCorrections() (map[int]datasets.Decision, Exported) {
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
	e.Undecided, e.Gone, e.Changed = d.counts[undecided], len(d.gone), d.countStale()
	if e.Gone > 0 {
		e.Example = d.gone[e.Gone-1].Path
	}
	if len(r.table.list) == 0 {
		e.Undecided = len(d.action) - e.Kept - e.Dropped - e.Relabelled - e.Unsure - e.Disagreed
	}
	e.Rows, e.Agreement = len(d.action)-e.Dropped, d.compareReviewers()
	return do, e
}

// writeFixed writes the corrected manifest: without dropped images, with the new labels of relabelled ones, and with a
// column of tags, if there are any.
func (r *Reviewer) writeFixed(w io.Writer) (Exported, error) {
	do, e := r.collectCorrections()
	_, err := datasets.Fix(w, r.ManifestFile, r.Manifest, do, r.tagList()...)
	return e, err
}

// exportManifest writes the corrected manifest to Out, a file completely or not at all.
func (r *Reviewer) exportManifest() (e Exported, err error) {
	if r.Out == "" {
		return e, reply.Refuse(http.StatusNotFound, "the server was started without a file to write: "+
			"download the manifest instead")
	}
	err = atomicfile.Write(r.Out, func(w io.Writer) (err error) {
		e, err = r.writeForm(w, r.Form, r.Out)
		return err
	})
	if err == nil && r.Form == labelStudio {
		e.Studio, err = r.prepareStudio(r.Out)
	}
	if err != nil {
		return e, fmt.Errorf("review: %w", err)
	}
	e.Path = r.Out
	return e, nil
}

// Write writes the corrected manifest to Out.
func (r *Reviewer) Write() (Exported, error) {
	r.exporting.Lock()
	defer r.exporting.Unlock()
	return r.exportManifest()
}

func (r *Reviewer) postExport(struct{}) (int, any, error) {
	e, err := r.Write()
	return http.StatusOK, e, err
}

// sent holds the name and content type of each form's download.
var sent = map[Form][2]string{
	Table:       {"fixed.csv", "text/csv; charset=utf-8"},
	imagefolder: {"metadata.csv", "text/csv; charset=utf-8"},
	fiftyOne:    {"labels.json", "application/json"},
	labelStudio: {"tasks.labelstudio.json", "application/json"},
	cleanlab:    {"issues.cleanlab.csv", "text/csv; charset=utf-8"},
}

// Exports returns the usual file names of the forms besides the manifest's own.
func Exports() map[Form]string {
	list := map[Form]string{}
	for form, file := range sent {
		list[form] = file[0]
	}
	return list
}

// inPlace returns the name and content type of the manifest's own form.
func (r *Reviewer) inPlace() ([2]string, error) {
	form, err := datasets.FormOf(r.ManifestFile)
	if err != nil {
		return [2]string{}, err
	}
	kind := map[datasets.Format]string{
		datasets.COCO: "application/json", datasets.JSONL: "application/jsonl",
		datasets.TSV: "text/tab-separated-values; charset=utf-8",
	}[form]
	return [2]string{"fixed" + Endings[form][0], cmp.Or(kind, "text/csv; charset=utf-8")}, nil
}

// getExport sends the decisions in the requested form. An error before the first byte is answered; a later one
// aborts the answer, so that half a manifest is not taken for a whole one.
func (r *Reviewer) getExport(w http.ResponseWriter, req *http.Request) {
	form := Form(cmp.Or(req.URL.Query().Get("form"), string(InPlace)))
	file, known := sent[form]
	var err error
	if form == InPlace {
		file, err = r.inPlace()
	} else if !known {
		err = reply.Refuse(http.StatusBadRequest, "form: %.40q is unknown, expected one of %v", form, forms)
	}
	if err != nil {
		answerError(w, err)
		return
	}
	h := w.Header()
	h.Set("Content-Disposition", `attachment; filename="`+file[0]+`"`)
	h.Set("Cache-Control", "no-store")
	out := &lateType{ResponseWriter: w, kind: file[1]}
	switch _, err := r.writeForm(out, form, file[0]); {
	case err != nil && !out.begun:
		h.Del("Content-Disposition")
		answerError(w, err)
	case err != nil:
		panic(http.ErrAbortHandler)
	}
}

// getConfig sends Label Studio's labelling configuration for the tasks.
func (r *Reviewer) getConfig(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "application/xml")
	h.Set("Content-Disposition", `attachment; filename="tasks.labelstudio.xml"`)
	h.Set("Cache-Control", "no-store")
	_, _ = io.WriteString(w, r.makeLabellingConfig()) // the client may be gone
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
