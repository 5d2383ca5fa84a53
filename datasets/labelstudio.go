package datasets

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// taskID is the column that keeps the number of a row's task.
const taskID = "task_id"

// studioTask is a task of an export of Label Studio as JSON: https://labelstud.io/guide/task_format.
type studioTask struct {
	ID          ident                      `json:"id"`
	Data        map[string]json.RawMessage `json:"data"`
	Annotations []studioAnnotation         `json:"annotations"`
}

// studioAnnotation is what an annotator answered.
type studioAnnotation struct {
	By        json.RawMessage `json:"completed_by"`
	Cancelled bool            `json:"was_cancelled"`
	Truth     bool            `json:"ground_truth"`
	Updated   string          `json:"updated_at"`
	Result    []struct {
		Control string `json:"from_name"`
		Type    string `json:"type"`
		Value   struct {
			Choices []string `json:"choices"`
		} `json:"value"`
	} `json:"result"`
}

// isLabelStudio reports whether a file with this beginning is a list of tasks.
func isLabelStudio(head []byte) bool {
	rest, list := bytes.CutPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("["))
	keys := listJSONKeys(bytes.TrimLeft(rest, " \t\r\n"))
	return list && keys["data"] == '{' && (keys["annotations"] == '[' || keys["predictions"] == '[')
}

// studioExport is what has been read of an export of Label Studio.
type studioExport struct {
	reading
	keys     [len(ownNames)]string // of the data; known from the first task on
	rows     []row
	tasks    []studioTask    // of the rows
	controls map[string]bool // of choices; false: of regions
}

// readLabelStudio reads an export of Label Studio. Each task becomes a row; its label is the choice of more than
// half of its annotators. Tasks without such a choice have no label.
func readLabelStudio(r io.Reader, name string, opts reading) (*Dataset, error) {
	s := &studioExport{reading: opts, controls: map[string]bool{}}
	var tasks []studioTask
	err := json.NewDecoder(r).Decode(&tasks)
	for n := range tasks {
		if err == nil {
			if err = s.addTask(&tasks[n]); err != nil {
				err = fmt.Errorf("task %d of the list: %w", n+1, err)
			}
		}
	}
	said := ""
	if err == nil && len(s.rows) > 0 {
		said, err = s.setLabels()
	}
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	d := buildDataset(s.rows, []string{taskID})
	d.Reading = newReading(forms[LabelStudio], d.Classes, nil)
	opts.noteReading(name, d.Reading,
		fmt.Sprintf("read as tasks of Label Studio, images by %q, labels by %s", s.keys[pathColumn], said))
	return d, nil
}

// addTask adds the row of a task, without its label.
func (s *studioExport) addTask(t *studioTask) error {
	data := make(map[string]string, len(t.Data))
	for key, raw := range t.Data {
		text, err := plainJSON(raw)
		if err != nil {
			return err
		}
		data[key] = text
	}
	if len(s.rows) == 0 {
		if err := s.findDataKeys(data); err != nil {
			return err
		}
	}
	for _, a := range t.Annotations {
		for _, r := range a.Result {
			s.controls[r.Control] = s.controls[r.Control] || r.Type == "choices"
		}
	}
	path, err := locateImage(data[s.keys[pathColumn]], s.StripPrefix)
	if err != nil {
		return err
	}
	r := row{path: path, split: data[s.keys[splitColumn]], truth: trimLineEnd(data[s.keys[trueColumn]]),
		label: trimLineEnd(data[s.keys[labelColumn]]), extra: []string{string(t.ID)}}
	s.tasks = append(s.tasks, *t)
	opts := s.reading
	opts.StripPrefix = "" // it has been stripped
	s.rows, err = appendRow(s.rows, r, opts)
	return err
}

// findDataKeys finds the keys with a meaning among the data of the first task.
func (s *studioExport) findDataKeys(data map[string]string) error {
	o, keys := s.ReadOptions, slices.Sorted(maps.Keys(data))
	if !slices.Contains(keys, o.Names.Label) {
		o.Names.Label = "" // of a control, if it names one
	}
	at, _, err := o.findColumns(keys)
	if err != nil {
		return err
	}
	if o.Names.Label == "" {
		at[labelColumn] = -1 // a label in the data is not the annotators' choice
	}
	if at[pathColumn] < 0 {
		return fmt.Errorf("found the keys %.200s, expected the image: name it by %s", strings.Join(keys, ", "), naming)
	}
	// Later tasks may have these.
	s.keys = [len(ownNames)]string{splitColumn: ownNames[splitColumn], trueColumn: ownNames[trueColumn]}
	for k := range at {
		if at[k] >= 0 {
			s.keys[k] = keys[at[k]]
		}
	}
	return nil
}

// locateImage returns the path of a task's image without the prefix strip: below Label Studio's document root, below
// its folder media if it was uploaded, or as it is. An image given by a URL is a file only if the URL begins with the
// prefix.
func locateImage(value, strip string) (string, error) {
	u, err := url.Parse(value)
	_, upload, uploaded := strings.Cut(value, "/data/upload/")
	switch {
	case strip != "" && strings.HasPrefix(value, strip):
	case err == nil && u.Query().Get("d") != "" &&
		strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/data/local-files"):
		value = strings.TrimLeft(u.Query().Get("d"), "/")
	case uploaded:
		if value, err = url.PathUnescape("upload/" + upload); err != nil {
			return "", err
		}
	case strings.Contains(value, "://") || strings.HasPrefix(value, "data:"):
		return "", fmt.Errorf("its image is at %.80q, expected a file: download the images, and give the part before "+
			"their paths to winnow data import --strip-prefix", value)
	}
	return cleanPath(value, strip)
}

// setLabels sets the labels and says where they are from: the named key of the data or control, the only control, or
// one with a usual name.
func (s *studioExport) setLabels() (said string, err error) {
	control := s.Names.Label
	if choices, known := s.controls[control]; control != "" && s.keys[labelColumn] != "" && !known {
		return fmt.Sprintf("the data %q", control), nil
	} else if control != "" && !choices {
		return "", fmt.Errorf("found no choice of a control %q, and no data of that name", control)
	}
	names := slices.Sorted(maps.Keys(s.controls))
	if control == "" && len(names) == 1 {
		control = names[0]
	}
	for _, name := range []string{"label", "choice", "choices", "labels", "class", "category", "classification"} {
		if s.controls[name] {
			control = cmp.Or(control, name)
		}
	}
	if control == "" {
		return "", fmt.Errorf("found choices of the controls [%.200s], expected one that holds the labels: name it, "+
			"or a key of the data, with winnow data import --label-column", strings.Join(names, ", "))
	}
	if !s.controls[control] {
		return "", fmt.Errorf("found labelled regions of the control %q, expected choices: export the project as COCO "+
			"or YOLO", control)
	}
	without := 0
	for i := range s.rows {
		if s.rows[i].label = s.tasks[i].findChoice(control); s.rows[i].label == "" {
			without++
		}
	}
	return fmt.Sprintf("the choices of %q; tasks without one choice of most annotators: %d", control, without), nil
}

// choose returns the choice of more than half of the annotators who made one, by the last annotation of each; "" if
// there is none. If annotations are marked as the ground truth, only these count.
func (t *studioTask) findChoice(control string) string {
	list := t.Annotations
	if truth := slices.ContainsFunc(list, func(a studioAnnotation) bool { return a.Truth && !a.Cancelled }); truth {
		list = slices.DeleteFunc(slices.Clone(list), func(a studioAnnotation) bool { return !a.Truth })
	}
	last := map[string]studioAnnotation{} // of each annotator
	for i, a := range list {
		by := cmp.Or(string(a.By), fmt.Sprint(i))
		if was, again := last[by]; !again || a.Updated >= was.Updated {
			last[by] = a
		}
	}
	votes, all := map[string]int{}, 0
	for _, a := range last {
		var chosen []string
		for _, r := range a.Result {
			if r.Control == control {
				chosen = append(chosen, r.Value.Choices...)
			}
		}
		if len(chosen) == 1 && !a.Cancelled {
			votes[chosen[0]]++
			all++
		}
	}
	for label, n := range votes {
		if 2*n > all {
			return label
		}
	}
	return ""
}
