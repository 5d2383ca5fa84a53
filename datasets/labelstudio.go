package datasets

import (
	"errors"
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
	uploaded int
}

// readLabelStudio reads an export of Label Studio. Each task becomes a row; its label is the choice of more than
// half of its annotators. Tasks without such a choice have no label; tasks that the annotators drop are left out. If
// regions are labelled, each becomes a row, whose image is the crop of the box around it.
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
	said := fmt.Sprintf("read as tasks of Label Studio, images by %q, ", s.keys[pathColumn])
	b := &boxReader{opts: opts, rows: s.rows}
	b.opts.StripPrefix = "" // it has been stripped
	if s.boxed[control] && !fromData {
		said += fmt.Sprintf("a row for each box of %q", control)
		if several := s.addRegionRows(b, control); several > 0 {
			said += fmt.Sprintf("; of %d tasks with boxes of several annotators those of the last", several)
		}
	} else {
		said += s.setChosenLabels(control, fromData)
		b.rows = s.rows
	}
	d := buildDataset(b.rows, []string{taskID})
	d.Reading = newReading(forms[LabelStudio], d.Classes, b.left.sorted())
	lines := []string{said}
	if s.uploaded > 0 {
		lines = append(lines, fmt.Sprintf("%d images were uploaded into Label Studio: their paths begin in the folder "+
			"media of its data, which --root names", s.uploaded))
	}
	opts.noteReading(name, d.Reading, lines...)
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
	path, from, err := imageOfTask(value, s.StripPrefix)
	if err != nil {
		return err
	}
	if from == labelstudio.Uploaded {
		s.uploaded++
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
		return fmt.Errorf("found the keys %.200s, expected the image: name it by %s", strings.Join(t.Keys, ", "), naming)
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
func imageOfTask(value, strip string) (path string, from labelstudio.Origin, err error) {
	path, from = labelstudio.Locate(value)
	switch {
	case strip != "" && strings.HasPrefix(value, strip):
		path, from = value, labelstudio.Plain
	case from == labelstudio.Inside:
		return "", from, fmt.Errorf("its image is embedded in the task, expected a file")
	case from == labelstudio.Elsewhere && strip == "":
		return "", from, fmt.Errorf("its image is at %.200q, expected a file: download the images, and give the "+
			"part before their paths to winnow data import --strip-prefix", value)
	}
	path, err = cleanPath(path, strip)
	return path, from, err
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

// addRegionRows adds the labelled regions of all tasks, and counts the tasks with those of several annotators.
func (s *studioExport) addRegionRows(b *boxReader, control string) (several int) {
	b.rows = nil
	for i, task := range s.rows {
		if _, v := labelstudio.Outcome(s.answers[i], control); v == labelstudio.Dropped {
			b.left.add("that annotators dropped", "pictures")
			continue
		}
		boxes, more := labelstudio.Boxes(s.answers[i], control)
		if more {
			several++
		}
		p := photo{file: task.path, split: task.split}
		for _, k := range boxes {
			m := labelMark{label: k.Label, extra: task.extra}
			if p.width, p.height = k.PictureW, k.PictureH; k.PictureW <= 0 || k.PictureH <= 0 {
				m.odd = errors.New("found no original_width and original_height, which its box needs")
			}
			m.box = scaleBoxToShares([2]float64{k.Left / 100, k.Top / 100},
				[2]float64{(k.Left + k.Width) / 100, (k.Top + k.Height) / 100}, k.PictureW, k.PictureH)
			p.marks = append(p.marks, m)
		}
		b.seen = nil
		b.addPhoto(&p)
	}
	return several
}
