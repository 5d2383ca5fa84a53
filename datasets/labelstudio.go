package datasets

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"winnow/datasets/labelstudio"
)

// taskID is the column that keeps the number of a row's task.
const taskID = "task_id"

// readLabelStudio reads an export of Label Studio. Each task becomes a row; its label is the choice of more than
// half of its annotators. Tasks without such a choice have no label; tasks that the annotators drop are left out.
func readLabelStudio(r io.Reader, name string, opts reading) (*Dataset, error) {
	s := newStudied(opts)
	err := labelstudio.Each(r, s.readStudied)
	if err == nil {
		err = s.setChosenLabels(name)
	}
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	d := buildDataset(s.rows, s.columns)
	d.Reading = &Reading{Form: forms[LabelStudio], Left: countReasons(s.left), Empty: []string{}, Unread: s.unread,
		Alike: lookAlikes(d.Classes)}
	opts.noteLines(name, d.Reading.Lines())
	return d, nil
}

func newStudied(opts reading) *studied {
	return &studied{reading: opts, controls: labelstudio.Controls{}, boxed: map[string]bool{}, at: map[string]int{},
		left: map[Left]int{}}
}

// studied is what has been read of an export.
type studied struct {
	reading
	keys     [len(ownNames)]string // of the data; known from the first task on
	columns  []string              // task_id, then the data keys without a meaning, in order of appearance
	at       map[string]int        // the positions of the columns by key
	rows     []row
	answers  [][]labelstudio.Answer // of the rows
	controls labelstudio.Controls
	boxed    map[string]bool // controls that label regions
	left     map[Left]int
	unread   []Unread
	size     int
	uploaded int
}

// findTaskKeys finds the keys and the controls of a task.
func (s *studied) findTaskKeys(t *labelstudio.Task) error {
	if s.columns == nil {
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
	return nil
}

// readStudied reads a task.
func (s *studied) readStudied(t *labelstudio.Task) error {
	if err := s.findTaskKeys(t); err != nil {
		return err
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
		label: t.Data[s.keys[labelColumn]]}
	if err := s.keepFurther(&r, t); err != nil {
		return err
	}
	s.answers = append(s.answers, t.Answers)
	opts := s.reading
	opts.StripPrefix = "" // it has been stripped
	s.rows, err = appendRow(s.rows, r, opts)
	return err
}

// keepFurther keeps the data without a meaning.
func (s *studied) keepFurther(r *row, t *labelstudio.Task) error {
	r.extra = append(make([]string, 0, len(s.columns)), t.ID)
	s.size += len(t.ID)
	for _, key := range t.Keys {
		s.size += len(key) + len(t.Data[key])
		at, known := s.at[key]
		if !known {
			if slices.Contains(s.keys[:], key) {
				continue
			}
			at = len(s.columns)
			column := nameFurtherColumn(key)
			if slices.Contains(s.columns, column) {
				column = "data_" + column
			}
			s.at[key], s.columns = at, append(s.columns, column)
		}
		if missing := at + 1 - len(r.extra); missing > 0 {
			r.extra = append(r.extra, make([]string, missing)...)
		}
		r.extra[at] = t.Data[key]
	}
	if n := (len(s.rows) + 1) * len(s.columns); n > max(leastCells, s.size) {
		return fmt.Errorf("%d tasks with %d different keys make a table of %d values, expected keys that tasks share",
			len(s.rows)+1, len(s.columns), n)
	}
	return nil
}

// findDataKeys finds the keys with a meaning among the data of the first task.
func (s *studied) findDataKeys(t *labelstudio.Task) error {
	s.columns = []string{taskID}
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
		return fmt.Errorf("found the data %.200s, expected the image: name its key with winnow data import "+
			"--path-column", strings.Join(t.Keys, ", "))
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

// labelSource returns the control that holds the labels or, if fromData, the key of the data.
func (s *studied) labelSource() (control string, fromData bool, err error) {
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

// setChosenLabels sets the chosen labels, leaves out dropped rows, and notes what it took.
func (s *studied) setChosenLabels(name string) error {
	if len(s.rows) == 0 {
		return nil
	}
	control, fromData, err := s.labelSource()
	if err != nil {
		return err
	}
	if s.boxed[control] && !fromData {
		return s.addRegionRows(name, control)
	}
	tally := labelstudio.Tally{}
	kept := s.rows[:0]
	for i := range s.rows {
		r := s.rows[i]
		if missing := len(s.columns) - len(r.extra); missing > 0 {
			r.extra = append(r.extra, make([]string, missing)...)
		}
		if !fromData {
			var v labelstudio.Verdict
			r.label, v = labelstudio.Outcome(s.answers[i], control)
			tally[v]++
			if v == labelstudio.Dropped {
				continue
			}
		} else {
			r.label = trimLineEnd(r.label)
		}
		kept = append(kept, r)
	}
	s.rows = kept
	s.noteLabelSource(name, control, fromData, tally)
	return nil
}

// addRegionRows makes each labelled region a row, whose image is the crop of the box around it.
func (s *studied) addRegionRows(name, control string) error {
	var rows []row
	several := 0
	for i, task := range s.rows {
		if missing := len(s.columns) - len(task.extra); missing > 0 {
			task.extra = append(task.extra, make([]string, missing)...)
		}
		if _, v := labelstudio.Outcome(s.answers[i], control); v == labelstudio.Dropped {
			s.left[Left{Reason: "that annotators dropped", Of: "pictures"}]++
			continue
		}
		boxes, more := labelstudio.Boxes(s.answers[i], control)
		if more {
			several++
		}
		if len(boxes) == 0 {
			s.left[Left{Reason: withoutBox, Of: "pictures"}]++
		}
		for n, b := range boxes {
			var c Crop
			why, err := "", error(nil)
			if b.PictureW <= 0 || b.PictureH <= 0 {
				err = errors.New("found no original_width and original_height, which its box needs")
			} else {
				c, why, err = s.cropBox(scaleBoxToShares([2]float64{b.Left / 100, b.Top / 100},
					[2]float64{(b.Left + b.Width) / 100, (b.Top + b.Height) / 100}, b.PictureW, b.PictureH), b.PictureW,
					b.PictureH)
			}
			if err != nil {
				s.left[Left{Reason: notReadable, Of: "boxes"}]++
				s.unread = append(s.unread, unreadFor("", fmt.Sprintf("task %.40s, box %d", task.extra[0], n+1), err))
				continue
			}
			if why != "" {
				s.left[Left{Reason: why, Of: "boxes"}]++
				continue
			}
			r := task
			r.path, r.label = c.cropPath(task.path, strconv.Itoa(n+1)), b.Label
			rows = append(rows, r)
		}
	}
	s.rows = rows
	said := ""
	if several > 0 {
		said += fmt.Sprintf("; of %d tasks with boxes of several annotators those of the last", several)
	}
	s.noteLines(name, []string{fmt.Sprintf("read as tasks of Label Studio, images by %q, a row for each box of %q%s",
		s.keys[pathColumn], control, said)})
	return nil
}

// noteLabelSource notes which data were taken for the labels, and what has none.
func (s *studied) noteLabelSource(name, control string, fromData bool, tally labelstudio.Tally) {
	if s.Note == nil {
		return
	}
	what := "choices of"
	if fromData {
		what = "data"
	}
	s.Note("%s: read as tasks of Label Studio, images by %q, labels by the %s %q%s", name, s.keys[pathColumn], what,
		control, tally)
	if s.uploaded > 0 {
		s.Note("%s: %d images were uploaded into Label Studio: their paths begin in the folder media of its data, "+
			"which --root names", name, s.uploaded)
	}
}
