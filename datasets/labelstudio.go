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

// taskID is the column with the id of a row's task.
const taskID = "task_id"

// studioTask is a task in a JSON export of Label Studio: https://labelstud.io/guide/task_format.
type studioTask struct {
	ID          ident                      `json:"id"`
	Data        map[string]json.RawMessage `json:"data"`
	Annotations []studioAnnotation         `json:"annotations"`
}

// studioAnnotation is one annotator's answer to a task.
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

// isLabelStudio reports whether a file that starts with head is a list of tasks.
func isLabelStudio(head []byte) bool {
	rest, list := bytes.CutPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("["))
	keys := listJSONKeys(bytes.TrimLeft(rest, " \t\r\n"))
	return list && keys["data"] == '{' && (keys["annotations"] == '[' || keys["predictions"] == '[')
}

// studioExport collects the rows of a Label Studio export.
type studioExport struct {
	reading
	keys     [len(ownNames)]string // keys of the data; set by the first task
	rows     []row
	tasks    []studioTask    // the task of each row
	controls map[string]bool // true: a control with choices; false: with regions
}

// readLabelStudio reads a Label Studio export. Each task becomes a row, labelled with the choice of more than half of
// its annotators. A task without such a choice has no label.
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

// addTask adds a task's row; setLabels adds the label later.
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
	opts.StripPrefix = "" // locateImage has stripped the prefix
	s.rows, err = appendRow(s.rows, r, opts)
	return err
}

// findDataKeys finds the keys with a meaning in the data of the first task.
func (s *studioExport) findDataKeys(data map[string]string) error {
	o, keys := s.ReadOptions, slices.Sorted(maps.Keys(data))
	if !slices.Contains(keys, o.Names.Label) {
		o.Names.Label = "" // the name may be that of a control
	}
	at, _, err := o.findColumns(keys)
	if err != nil {
		return err
	}
	if o.Names.Label == "" {
		at[labelColumn] = -1 // a label in the data is not the annotators' choice
	}
	if at[pathColumn] < 0 {
		return fmt.Errorf("found the keys %.200s, expected an image key: name it by %s", strings.Join(keys, ", "),
			naming)
	}
	// These keys may be missing in the first task.
	s.keys = [len(ownNames)]string{splitColumn: ownNames[splitColumn], trueColumn: ownNames[trueColumn]}
	for k := range at {
		if at[k] >= 0 {
			s.keys[k] = keys[at[k]]
		}
	}
	return nil
}

// locateImage returns the path of a task's image after removing the prefix strip. The path is relative to Label
// Studio's document root, starts with upload/ for an uploaded file, or is the given value. A URL is accepted only if it
// starts with strip.
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
		return "", fmt.Errorf("the image is at %.80q, expected a file: download the images, and pass the part before "+
			"their paths to winnow data import --strip-prefix", value)
	}
	return cleanPath(value, strip)
}

// setLabels sets the labels and returns where they come from: the key or control named by the user, the only control,
// or a control with a common name.
func (s *studioExport) setLabels() (said string, err error) {
	control := s.Names.Label
	if choices, known := s.controls[control]; control != "" && s.keys[labelColumn] != "" && !known {
		return fmt.Sprintf("the data %q", control), nil
	} else if control != "" && !choices {
		return "", fmt.Errorf("found neither a control with choices nor a data key named %q", control)
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
		return "", fmt.Errorf("found the controls [%.200s], expected one control that gives the labels: "+
			"name the control, or a data key, with winnow data import --label-column", strings.Join(names, ", "))
	}
	if !s.controls[control] {
		return "", fmt.Errorf("control %q has labelled regions, expected choices: export the project as COCO "+
			"or YOLO", control)
	}
	without := 0
	for i := range s.rows {
		if s.rows[i].label = s.tasks[i].findChoice(control); s.rows[i].label == "" {
			without++
		}
	}
	return fmt.Sprintf("the choices of %q; tasks on which no majority of annotators agrees: %d", control, without), nil
}

// findChoice returns the choice of more than half of the annotators who chose, or "" if there is none. Only the last
// annotation of each annotator is used; if some annotations are marked as ground truth, only those are used.
func (t *studioTask) findChoice(control string) string {
	list := t.Annotations
	if truth := slices.ContainsFunc(list, func(a studioAnnotation) bool { return a.Truth && !a.Cancelled }); truth {
		list = slices.DeleteFunc(slices.Clone(list), func(a studioAnnotation) bool { return !a.Truth })
	}
	last := map[string]studioAnnotation{} // the last annotation by annotator
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
