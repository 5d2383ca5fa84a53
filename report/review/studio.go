package review

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"winnow/audit/suspects"
	"winnow/datasets/labelstudio"
	"winnow/internal/atomicfile"
	"winnow/internal/hint"
)

// studio says how to set up Label Studio for its tasks.
type studio struct {
	Config      string            `json:"config"`      // file of the labelling configuration
	Storage     string            `json:"storage"`     // folder to add as a source storage
	Environment map[string]string `json:"environment"` // environment variables to start it with
}

// Environment variables of Label Studio.
const (
	servingEnabled = "LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED"
	documentRoot   = "LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT"
)

// String explains how to set up Label Studio for the tasks.
func (s *studio) String() string {
	return fmt.Sprintf("labelling configuration: %s (Settings, Labeling Interface, Code)\n"+
		"start Label Studio with\n  %s=%s\n  %s=%s\n"+
		"before importing the tasks, add the source storage Local Files with the path %s to the project, "+
		"without syncing it\n",
		s.Config, servingEnabled, s.Environment[servingEnabled], documentRoot, s.Environment[documentRoot], s.Storage)
}

// newStudioSetup returns the setup for images in a folder. The document root is the folder above it, because Label
// Studio does not accept the root itself as a storage.
func (r *Reviewer) newStudioSetup() *studio {
	return &studio{
		Storage:     r.Root.String(),
		Environment: map[string]string{servingEnabled: "true", documentRoot: r.Root.Parent().String()},
	}
}

// configFile returns the path of the labelling configuration of tasks.
func configFile(tasks string) string {
	return strings.TrimSuffix(tasks, filepath.Ext(tasks)) + ".xml"
}

// prepareStudio writes the labelling configuration next to the tasks.
func (r *Reviewer) prepareStudio(tasks string) (*studio, error) {
	s := r.newStudioSetup()
	s.Config = configFile(tasks)
	return s, atomicfile.Write(s.Config, func(w io.Writer) error {
		_, err := io.WriteString(w, r.makeLabellingConfig())
		return err
	})
}

// makeLabellingConfig returns the labelling configuration: a choice among the classes of the manifest and all suggested
// or decided labels.
func (r *Reviewer) makeLabellingConfig() string {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	return labelstudio.Config(r.table.classes, len(r.Manifest.Samples) > 0 && isCrop(r.Manifest.Samples[0].Path))
}

// listToDecide returns the images to decide about elsewhere, in order: the suspects, most suspect first, and all other
// decided images. If the audit has no suspects it returns all its images; without an audit, all images of the
// manifest.
func (r *Reviewer) listToDecide() []int32 {
	t, d := r.table, r.decided
	var list []int32
	for _, e := range t.list {
		if e.kinds&suspect != 0 || t.byKind[kindNames[0].name] == 0 || settlesLabel(d.action[e.image]) {
			list = append(list, e.image)
		}
	}
	for image := range d.action {
		if t.id[image] == none && (len(t.list) == 0 || settlesLabel(d.action[image])) {
			list = append(list, int32(image))
		}
	}
	return list
}

// writeTasks writes tasks for Label Studio: suggestions as predictions, settled decisions as annotations.
func (r *Reviewer) writeTasks(w io.Writer) (Exported, error) {
	_, e := r.collectCorrections()
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	out, list := labelstudio.NewWriter(w), r.listToDecide()
	if slices.ContainsFunc(list, func(image int32) bool { return isCrop(r.table.getImagePath(image)) }) {
		var err error
		if e.Rows, err = r.writeBoxes(out, list); err != nil {
			return e, fmt.Errorf("review: %w", err)
		}
		return e, out.Close()
	}
	for i, image := range list {
		file := r.table.getImagePath(image)
		if _, err := os.Stat(r.Root.Join(file).Path()); i == 0 && err != nil {
			return e, hint.With(fmt.Errorf("review: Label Studio shows files of a folder: %w", err),
				"name the folder of the images as the root; unpack a .zip file first")
		}
		if err := out.Write(file, r.newTask(image, path.Join(r.Root.Base(), file))); err != nil {
			return e, fmt.Errorf("review: %w", err)
		}
	}
	e.Rows = len(list)
	return e, out.Close()
}

// newTask returns the task of an image. file is its path below the document root.
func (r *Reviewer) newTask(image int32, file string) labelstudio.Sent {
	t, d, sample := r.table, r.decided, r.Manifest.Samples[image]
	s := labelstudio.Sent{Image: file, Data: []labelstudio.Field{
		{Name: labelstudio.GivenKey, Value: t.nameGivenLabel(image)}, {Name: "split", Value: t.splitOf(image)},
	}}
	if id := t.id[image]; id != none {
		e := &t.list[id]
		s.Data = append(s.Data,
			labelstudio.Field{Name: "rank", Value: e.rank}, labelstudio.Field{Name: "score", Value: e.score})
		if e.suggested != e.given {
			s.Suggest = &labelstudio.Suggestion{
				Label: t.classes[e.suggested], Version: r.auditVersion(), Score: numberOrNil(e.better),
			}
		}
	}
	for i, name := range r.Manifest.Columns {
		taken := slices.ContainsFunc(s.Data, func(f labelstudio.Field) bool { return f.Name == name })
		if !taken && sample.Extra[i] != "" {
			s.Data = append(s.Data, labelstudio.Field{Name: name, Value: sample.Extra[i]})
		}
	}
	switch d.action[image] {
	case keep:
		if label := t.nameGivenLabel(image); label != "" {
			s.Decided = &labelstudio.Decision{Label: label}
		}
	case relabel:
		s.Decided = &labelstudio.Decision{Label: t.classes[d.label[image]]}
	case drop:
		s.Decided = &labelstudio.Decision{Drop: true}
	}
	return s
}

// auditVersion names the audit that suggests labels and distinguishes it from others of the same name.
func (r *Reviewer) auditVersion() string {
	return fmt.Sprintf("winnow %s %.8s", filepath.Base(r.AuditFile), r.table.sum)
}

// errNoScores is the error when cleanlab's columns cannot be written.
var errNoScores = errors.New("review: cleanlab's columns need a score for each image: " +
	"name the file of suspects in addition to the manifest")

// writeIssues writes the audit with the columns of cleanlab's label issues. A settled decision replaces the
// suspicion.
func (r *Reviewer) writeIssues(w io.Writer) (Exported, error) {
	_, e := r.collectCorrections()
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	t, d := r.table, r.decided
	if len(t.list) == 0 {
		return e, errNoScores
	}
	list := make([]suspects.Suspect, len(t.list))
	for id, e := range t.list {
		i := suspects.Suspect{
			Path: t.getImagePath(e.image), Given: t.classes[e.given], Suggested: t.classes[e.suggested],
			Score: e.score, Dropped: e.kinds&suspect != 0,
		}
		switch d.action[e.image] {
		case keep:
			i.Suggested, i.Dropped = i.Given, false
		case relabel:
			i.Suggested, i.Dropped = t.classes[d.label[e.image]], true
		case drop:
			i.Dropped = true
		}
		list[id] = i
	}
	e.Rows = len(list)
	return e, suspects.Write(w, suspects.Cleanlab, list)
}
