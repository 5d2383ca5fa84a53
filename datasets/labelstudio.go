package datasets

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"winnow/datasets/labelstudio"
)

// taskID is the column that keeps the number of a row's task.
const taskID = "task_id"

// studioExport is what has been read of an export of Label Studio.
type studioExport struct {
	reading
	keys     [len(ownNames)]string // of the data; known from the first task on
	rows     []row
	answers  [][]labelstudio.Answer // of the rows
	controls labelstudio.Controls
	boxed    map[string]bool // controls that label regions
}

// readLabelStudio reads an export of Label Studio. Each task becomes a row; its label is the choice of more than
// half of its annotators. Tasks without such a choice have no label; tasks that the annotators drop are left out.
func readLabelStudio(r io.Reader, name string, opts reading) (*Dataset, error) {
	s := &studioExport{reading: opts, controls: labelstudio.Controls{}, boxed: map[string]bool{}}
	err := labelstudio.Each(r, s.readTask)
	var control string
	var fromData bool
	if err == nil && len(s.rows) > 0 {
		control, fromData, err = s.findLabelSource()
	}
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	if s.boxed[control] && !fromData {
		return nil, fmt.Errorf("datasets: %s: found labelled regions of the control %q, expected choices: export the "+
			"project as COCO or YOLO", name, control)
	}
	said := fmt.Sprintf("read as tasks of Label Studio, images by %q, %s", s.keys[pathColumn],
		s.setChosenLabels(control, fromData))
	d := buildDataset(s.rows, []string{taskID})
	d.Reading = newReading(forms[LabelStudio], d.Classes, nil)
	opts.noteReading(name, d.Reading, said)
	return d, nil
}

// readTask reads a task.
func (s *studioExport) readTask(t *labelstudio.Task) error {
	if len(s.rows) == 0 {
		if err := s.findDataKeys(t); err != nil {
			return err
		}
	}
	s.controls.Add(t)
	for i := range t.Answers {
		for _, b := range t.Answers[i].Boxes {
			s.boxed[b.Control] = true
		}
	}
	value, ok := t.Data[s.keys[pathColumn]]
	if !ok {
		return fmt.Errorf("its data lack the key %q, found %.200s", s.keys[pathColumn], strings.Join(t.Keys, ", "))
	}
	path, err := imageOfTask(value, s.StripPrefix)
	if err != nil {
		return err
	}
	r := row{path: path, split: t.Data[s.keys[splitColumn]], truth: trimLineEnd(t.Data[s.keys[trueColumn]]),
		label: trimLineEnd(t.Data[s.keys[labelColumn]]), extra: []string{t.ID}}
	s.answers = append(s.answers, t.Answers)
	opts := s.reading
	opts.StripPrefix = "" // it has been stripped
	s.rows, err = appendRow(s.rows, r, opts)
	return err
}

// findDataKeys finds the keys with a meaning among the data of the first task.
func (s *studioExport) findDataKeys(t *labelstudio.Task) error {
	o := s.ReadOptions
	if !slices.Contains(t.Keys, o.Names.Label) {
		o.Names.Label = "" // of a control, if it names one
	}
	at, _, err := o.findColumns(t.Keys)
	if err != nil {
		return err
	}
	if o.Names.Label == "" {
		at[labelColumn] = -1 // a label in the data is not the annotators' choice
	}
	if at[pathColumn] < 0 {
		at[pathColumn] = slices.IndexFunc(t.Keys, func(key string) bool {
			_, from := labelstudio.Locate(t.Data[key])
			return from != labelstudio.Plain
		})
	}
	if at[pathColumn] < 0 {
		return fmt.Errorf("found the keys %.200s, expected the image: name it by %s", strings.Join(t.Keys, ", "),
			naming)
	}
	// Later tasks may have these.
	s.keys = [len(ownNames)]string{splitColumn: ownNames[splitColumn], trueColumn: ownNames[trueColumn]}
	for k := range at {
		if at[k] >= 0 {
			s.keys[k] = t.Keys[at[k]]
		}
	}
	return nil
}

// imageOfTask returns the path of a task's image, without the prefix strip. An image given by a URL is a file only
// if the URL begins with the prefix.
func imageOfTask(value, strip string) (string, error) {
	path, from := labelstudio.Locate(value)
	switch {
	case strip != "" && strings.HasPrefix(value, strip):
		path = value
	case from == labelstudio.Inside || from == labelstudio.Elsewhere && strip == "":
		return "", fmt.Errorf("its image is at %.80q, expected a file: download the images, and give the part before "+
			"their paths to winnow data import --strip-prefix", value)
	}
	return cleanPath(path, strip)
}

// findLabelSource returns the control that holds the labels or, if fromData, the key of the data.
func (s *studioExport) findLabelSource() (control string, fromData bool, err error) {
	key := s.keys[labelColumn]
	control, fromData = s.Names.Label, key != "" && !s.controls[key]
	if control == "" {
		if control, err = s.controls.Pick(); err != nil {
			err = fmt.Errorf("%w: name it, or a key of the data, with winnow data import --label-column", err)
		}
	} else if !fromData && !s.controls[control] {
		err = fmt.Errorf("found no choice of a control %q, and no data of that name", control)
	}
	return control, fromData, err
}

// setChosenLabels sets the chosen labels, leaves out dropped rows, and describes what it took.
func (s *studioExport) setChosenLabels(control string, fromData bool) string {
	if fromData {
		return fmt.Sprintf("labels by the data %q", control)
	}
	tally := labelstudio.Tally{}
	kept := s.rows[:0]
	for i, r := range s.rows {
		var v labelstudio.Verdict
		r.label, v = labelstudio.Outcome(s.answers[i], control)
		if tally[v]++; v != labelstudio.Dropped {
			kept = append(kept, r)
		}
	}
	s.rows = kept
	return fmt.Sprintf("labels by the choices of %q%s", control, tally)
}
