package review

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"winnow/datasets"
	"winnow/internal/hint"
)

// Form is a format in which decisions are exported.
type Form string

// The forms.
const (
	InPlace     Form = "manifest"    // the manifest's own form
	Table       Form = "csv"         // a CSV manifest
	imagefolder Form = "imagefolder" // metadata.csv or metadata.jsonl
	fiftyOne    Form = "fiftyone"    // labels.json
	labelStudio Form = "labelstudio" // tasks with suggestions and decisions
	cleanlab    Form = "cleanlab"    // the columns of label issues
)

// forms lists all forms.
var forms = []Form{InPlace, Table, imagefolder, fiftyOne, labelStudio, cleanlab}

// Trainable reports whether the form is a manifest that winnow reads.
func (f Form) Trainable() bool { return f == InPlace || f == Table || f == imagefolder }

// names are the file names that tell a form: the whole name, or its end.
var names = []struct {
	name string
	form Form
}{
	{".labelstudio.json", labelStudio}, {".cleanlab.csv", cleanlab},
	{"metadata.csv", imagefolder}, {"metadata.jsonl", imagefolder}, {"labels.json", fiftyOne},
}

// Endings are the file extensions of a corrected manifest, for each format of the original.
var Endings = map[datasets.Format][]string{
	datasets.CSV: {".csv"}, datasets.TSV: {".tsv", ".txt"}, datasets.JSONL: {".jsonl"},
	datasets.PRISM: {".csv", ".txt"}, datasets.COCO: {".json"},
}

// FormOf returns the form of Out: Form, or else the one that its name tells; "" if there is no Out. If the
// manifest itself has the name of a special form, an Out of that name has the manifest's form.
func (f Files) FormOf() (Form, error) {
	if f.Out == "" {
		return "", nil
	}
	if f.Form != "" {
		if !slices.Contains(forms, f.Form) {
			return "", hint.Misused("review: form: %q is unknown, expected one of %v", f.Form, forms)
		}
		return f.Form, nil
	}
	form, err := datasets.FormOf(f.Manifest)
	if err != nil {
		return "", err
	}
	out, base := strings.ToLower(f.Out), filepath.Base(f.Out)
	for _, n := range names {
		// COCO's files are also named labels.json.
		own := base == f.Manifest.Base() || form == datasets.COCO && n.form == fiftyOne
		if base == n.name && !own || n.name[0] == '.' && strings.HasSuffix(out, n.name) {
			return n.form, nil
		}
	}
	ending := strings.ToLower(filepath.Ext(f.Out))
	switch {
	case slices.Contains(Endings[form], ending):
		return InPlace, nil
	case ending == ".csv":
		return Table, nil
	}
	known := Endings[form]
	if !slices.Contains(known, ".csv") {
		known = append(slices.Clone(known), ".csv")
	}
	return "", hint.Misused("review: %q does not end in %s: the corrected manifest has the form of %s, "+
		"or the one asked for", f.Out, strings.Join(known, " or "), f.Manifest)
}

// Inputs lists the files that are read, which an export must not overwrite. A folder may be read through a file
// in it.
func (f Files) Inputs() []string {
	list := []string{f.Manifest.Path(), f.Audit, f.Import, f.decisionsFile()}
	if base := filepath.Base(f.Out); base == "metadata.csv" || base == "metadata.jsonl" {
		for _, below := range []string{"", "train", "validation", "val", "valid", "test"} {
			list = append(list, filepath.Join(f.Manifest.Path(), below, base))
		}
	}
	return list
}

// writeForm writes the decisions in a form. name is the name of the file.
func (r *Reviewer) writeForm(w io.Writer, form Form, name string) (e Exported, err error) {
	switch form {
	case InPlace, "":
		return r.writeFixed(w)
	case labelStudio:
		return r.writeTasks(w)
	case cleanlab:
		return r.writeIssues(w)
	case imagefolder:
		if filepath.Ext(name) == ".jsonl" {
			name = "metadata.jsonl"
		} else {
			name = "metadata.csv"
		}
	case fiftyOne:
		name = "labels.json"
	case Table:
		name = "fixed.csv"
	}
	fixed, e, err := r.correctManifest()
	if err == nil {
		err = datasets.Write(w, name, fixed)
	}
	return e, err
}

// Text says what was exported, and how to use it.
func (e Exported) Text() string {
	counts := fmt.Sprintf("%d images dropped, %d relabelled, %d kept as they were, %d undecided\n%s",
		e.Dropped, e.Relabelled, e.Kept, e.Undecided, e.Left())
	if e.Studio == nil {
		return fmt.Sprintf("%s: %d rows; %s", e.Path, e.Rows, counts)
	}
	return fmt.Sprintf("%s: %d tasks; %s%s", e.Path, e.Rows, counts, e.Studio)
}
