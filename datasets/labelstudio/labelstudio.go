// Package labelstudio reads and writes tasks of Label Studio. It reads what annotators chose for images, from
// exports in the forms JSON and JSON_MIN, and writes tasks with predictions and annotations, with the labelling
// configuration that they need.
//
// The forms are those of https://labelstud.io/guide/task_format and https://labelstud.io/guide/predictions;
// JSON_MIN is that of https://labelstud.io/guide/export: one object per annotation, with the keys of the task's
// data, a key for each control, id, annotator and annotation_id. The package knows nothing of manifests; it only
// describes files.
package labelstudio

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"winnow/internal/jsontext"
)

// Task is an image with its annotators' answers, one of each annotator.
type Task struct {
	ID      string
	Keys    []string          // of Data, sorted
	Data    map[string]string // a value that is not a string keeps its JSON text
	Answers []Answer
	Min     bool // from JSON_MIN, where controls and data are not separated
}

// Answer is what an annotator said last about a task.
type Answer struct {
	Annotator string   // a name, or a number as in Label Studio
	Choices   []chosen // of every control
	Boxes     []Box    // of every control
	Skipped   bool
	Truth     bool // marked as the ground truth
	ours      bool // written by Writer and returned unchanged
	at        string
	index     int // among the annotations and completions of a task; of JSON_MIN, among its elements
}

// chosen holds the choices made in a control.
type chosen struct {
	Control string
	Values  []string
}

// Sent reports whether the answer is one that Writer wrote, unchanged.
func (a *Answer) Sent() bool { return a.ours }

// minKeys are the keys of JSON_MIN that are neither data nor controls.
var minKeys = []string{"id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement",
	"history"}

// element is a task of an export as JSON.
type element struct {
	ID          json.RawMessage            `json:"id"`
	Data        map[string]json.RawMessage `json:"data"`
	Annotations []annotation               `json:"annotations"`
	Completions []annotation               `json:"completions"` // the name before version 1.0
}

type annotation struct {
	ID        json.RawMessage `json:"id"`
	By        json.RawMessage `json:"completed_by"`
	Cancelled bool            `json:"was_cancelled"`
	Skipped   bool            `json:"skipped"`
	Truth     bool            `json:"ground_truth"`
	Created   json.RawMessage `json:"created_at"`
	Updated   json.RawMessage `json:"updated_at"`
	Result    []found         `json:"result"`
}

// found is a result of an annotation.
type found struct {
	ID      json.RawMessage `json:"id"`
	Control string          `json:"from_name"`
	Type    string          `json:"type"`
	Width   float64         `json:"original_width"`
	Height  float64         `json:"original_height"`
	Value   json.RawMessage `json:"value"`
}

// texts is a JSON string or a list of strings, without empty ones.
type texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *texts) UnmarshalJSON(raw []byte) error {
	list := []string{""}
	var err error
	switch {
	case len(raw) > 0 && raw[0] == '"':
		list[0], err = jsontext.Plain(raw)
	case len(raw) > 0 && raw[0] == '[':
		err = json.Unmarshal(raw, &list)
	case string(raw) != "null":
		err = errors.New("no text")
	}
	if err != nil {
		return fmt.Errorf("choices: found %.80s, expected a text or a list of them", raw)
	}
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	*t = slices.DeleteFunc(list, func(s string) bool { return s == "" })
	return nil
}

// taskKeys are those of tasks, by one of which a list is told from one of other objects.
var taskKeys = []string{"data", "annotations", "completions", "predictions", "annotation_id", "annotator"}

// Is reports whether a file with this beginning is a list of tasks, or tasks one after the other, as in JSON lines.
func Is(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	rest, list := bytes.CutPrefix(head, []byte("["))
	if !list {
		return isTask(head)
	}
	keys := jsontext.Keys(bytes.TrimLeft(rest, " \t\r\n"))
	return slices.ContainsFunc(taskKeys, func(key string) bool { return keys[key] != 0 })
}

// isTask reports whether an object with this beginning has the keys of a task.
func isTask(head []byte) bool {
	keys := jsontext.Keys(head)
	return keys["data"] == '{' && (keys["annotations"] == '[' || keys["completions"] == '[' ||
		keys["predictions"] == '[')
}

// Each passes the tasks of an export to yield in order. The annotations of a task in JSON_MIN, which follow each
// other, become one task. Errors say in which task they occur.
func Each(r io.Reader, take func(*Task) error) error {
	text := bufio.NewReader(r)
	head, _ := text.Peek(1 << 12) // a short file gives less
	lines := isTask(bytes.TrimLeft(head, " \t\r\n"))
	in := json.NewDecoder(text)
	const expected = "a list of tasks, as Label Studio exports it as JSON or JSON_MIN"
	if !lines {
		if err := jsontext.Open(in, '[', expected); err != nil {
			return err
		}
	}
	var last *Task
	give := func() error {
		if last == nil {
			return nil
		}
		task := last
		last = nil
		task.Answers = keepNewest(task.Answers)
		if err := take(task); err != nil {
			return fmt.Errorf("task %.40s: %w", task.ID, err)
		}
		return nil
	}
	read := readFirstTask
	for n := 1; in.More(); n++ {
		t, err := read(in)
		if err != nil {
			return fmt.Errorf("task %d of the list: %w", n, jsontext.Broken(in, err))
		}
		if read = readWholeTask; t.Min {
			read = readMinimal
		}
		if last != nil && t.Min && last.Min && t.ID != "" && t.ID == last.ID {
			t.Answers[0].setIndex(len(last.Answers))
			last.Answers = append(last.Answers, t.Answers...)
			continue
		}
		if err := give(); err != nil {
			return err
		}
		if last = t; t.ID == "" {
			t.ID = fmt.Sprintf("without an id, %d of the list", n)
		}
	}
	if err := give(); err != nil {
		return err
	}
	if lines {
		if _, err := in.Token(); !errors.Is(err, io.EOF) {
			return fmt.Errorf("found another value at byte %d, expected tasks alone", in.InputOffset())
		}
		return nil
	}
	return jsontext.Close(in, "list")
}

// readFirstTask reads the first element, which determines the form of all.
func readFirstTask(in *json.Decoder) (*Task, error) {
	var raw json.RawMessage
	if err := in.Decode(&raw); err != nil {
		return nil, err
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, err
	}
	read := readWholeTask
	if object["annotation_id"] != nil || object["annotator"] != nil {
		read = readMinimal
	} else if object["data"] == nil {
		return nil, fmt.Errorf("found the keys %.200s, expected those of Label Studio: data and annotations, or "+
			"annotation_id and annotator as in JSON_MIN", strings.Join(slices.Sorted(maps.Keys(object)), ", "))
	}
	return read(json.NewDecoder(bytes.NewReader(raw)))
}

// readWholeTask reads a task of JSON.
func readWholeTask(in *json.Decoder) (*Task, error) {
	var e element
	if err := in.Decode(&e); err != nil {
		return nil, err
	}
	if e.Data == nil {
		return nil, errors.New("it has no data, expected data and annotations")
	}
	t := &Task{Data: make(map[string]string, len(e.Data)), Keys: slices.Sorted(maps.Keys(e.Data))}
	var err error
	if t.ID, err = jsontext.Plain(e.ID); err != nil {
		return nil, err
	}
	for key, raw := range e.Data {
		if t.Data[key], err = jsontext.Plain(raw); err != nil {
			return nil, fmt.Errorf("data: %.80s: %w", key, err)
		}
	}
	all := append(e.Annotations, e.Completions...)
	for i := range all {
		a, err := all[i].newAnswer(t.Data[PathKey])
		if err != nil {
			return nil, fmt.Errorf("annotations[%d]: %w", i, err)
		}
		a.index = i
		for k := range a.Boxes {
			a.Boxes[k].answer = i
		}
		t.Answers = append(t.Answers, a)
	}
	return t, nil
}

func (a *annotation) newAnswer(path string) (Answer, error) {
	out := Answer{Skipped: a.Cancelled || a.Skipped, Truth: a.Truth}
	var err error
	if out.Annotator, err = findAnnotator(a.By, a.ID); err != nil {
		return out, err
	}
	if out.at, err = jsontext.Plain(a.Updated); err == nil && out.at == "" {
		out.at, err = jsontext.Plain(a.Created)
	}
	if err != nil {
		return out, err
	}
	for i, r := range a.Result {
		values, boxed, err := r.readChosen(&out, i)
		if err != nil {
			return out, err
		}
		if boxed {
			continue
		}
		if id, err := jsontext.Plain(r.ID); err == nil && strings.HasPrefix(id, sentPrefix) {
			out.ours = len(a.Result) == 1 && len(values) == 1 && id == sentID(path, r.Control, values[0])
		}
		at := slices.IndexFunc(out.Choices, func(c chosen) bool { return c.Control == r.Control })
		if at < 0 {
			out.Choices = append(out.Choices, chosen{r.Control, values})
			continue
		}
		for _, v := range values { // of regions one each
			if !slices.Contains(out.Choices[at].Values, v) {
				out.Choices[at].Values = append(out.Choices[at].Values, v)
			}
		}
	}
	return out, nil
}

// readChosen returns what was chosen, or adds the box of a region to an answer;
// boxed says that nothing was chosen.
func (r *found) readChosen(out *Answer, at int) (values []string, boxed bool, err error) {
	if len(r.Value) == 0 {
		return nil, r.Type != "choices", nil
	}
	switch r.Type {
	case "choices":
		var v struct {
			Choices texts `json:"choices"`
		}
		err = json.Unmarshal(r.Value, &v)
		return v.Choices, false, err
	case "taxonomy":
		var v struct {
			Taxonomy paths `json:"taxonomy"`
		}
		err = json.Unmarshal(r.Value, &v)
		return v.Taxonomy.joinLevels(), false, err
	case "rectanglelabels", "ellipselabels", "polygonlabels", "labels":
		var v region
		if err = json.Unmarshal(r.Value, &v); err != nil {
			return nil, true, err
		}
		if b, ok := v.computeBoxAround(r.Control, r.Width, r.Height); ok {
			b.result = at
			b.ID, _ = jsontext.Plain(r.ID) // another program may write any value
			out.Boxes = append(out.Boxes, b)
		}
	}
	return nil, true, nil
}

// readMinimal reads an annotation of JSON_MIN. Any string, and any object with choices, may belong to a control.
func readMinimal(in *json.Decoder) (*Task, error) {
	var object map[string]json.RawMessage
	if err := in.Decode(&object); err != nil {
		return nil, err
	}
	t, a := &Task{Min: true, Data: make(map[string]string, len(object))}, Answer{}
	var err error
	if t.ID, err = jsontext.Plain(object["id"]); err != nil {
		return nil, err
	}
	if a.Annotator, err = findAnnotator(object["annotator"], object["annotation_id"]); err != nil {
		return nil, err
	}
	if a.at, err = jsontext.Plain(object["updated_at"]); err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		raw := object[key]
		if slices.Contains(minKeys, key) {
			continue
		}
		t.Keys = append(t.Keys, key)
		if t.Data[key], err = jsontext.Plain(raw); err != nil {
			return nil, fmt.Errorf("%.80s: %w", key, err)
		}
		a.Boxes = append(a.Boxes, readRegions(raw, key)...)
		if values, ok := findChoices(raw, t.Data[key]); ok {
			a.Choices = append(a.Choices, chosen{key, values})
		}
	}
	t.Answers = []Answer{a}
	return t, nil
}

// findChoices returns the choices in a value of JSON_MIN if it may be a control's: a string, or an object that holds
// choices.
func findChoices(raw json.RawMessage, text string) ([]string, bool) {
	switch {
	case len(raw) > 0 && raw[0] == '"':
		if text = strings.TrimSpace(text); text == "" {
			return nil, true
		}
		return []string{text}, true
	case len(raw) > 0 && raw[0] == '{':
		var value struct {
			Choices  texts `json:"choices"`
			Taxonomy paths `json:"taxonomy"`
		}
		err := json.Unmarshal(raw, &value)
		return append(value.Choices, value.Taxonomy.joinLevels()...), err == nil &&
			(value.Choices != nil || value.Taxonomy != nil)
	case len(raw) > 1 && raw[0] == '[':
		var taxonomy paths
		err := json.Unmarshal(raw, &taxonomy)
		return taxonomy.joinLevels(), err == nil && len(taxonomy) > 0
	}
	return nil, false
}

// findAnnotator returns the author of an annotation: the email address or name if there is one, else the number of the
// user, else the annotation's own id.
func findAnnotator(by, id json.RawMessage) (string, error) {
	if len(by) > 0 && by[0] == '{' {
		var user struct {
			Email    string          `json:"email"`
			Username string          `json:"username"`
			ID       json.RawMessage `json:"id"`
		}
		if err := json.Unmarshal(by, &user); err != nil {
			return "", fmt.Errorf("completed_by: %w", err)
		}
		for _, name := range []string{user.Email, user.Username} {
			if name != "" {
				return name, nil
			}
		}
		by = user.ID
	}
	name, err := jsontext.Plain(by)
	if err == nil && name == "" {
		name, err = jsontext.Plain(id)
		name = "of annotation " + name
	}
	return name, err
}

// keepNewest keeps only the last of several answers of an annotator.
func keepNewest(all []Answer) []Answer {
	out, at := all[:0], make(map[string]int, len(all))
	for _, a := range all {
		i, before := at[a.Annotator]
		if !before {
			at[a.Annotator] = len(out)
			out = append(out, a)
		} else if a.at >= out[i].at {
			out[i] = a
		}
	}
	return out
}
