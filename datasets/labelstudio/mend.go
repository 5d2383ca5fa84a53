package labelstudio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"winnow/internal/jsontext"
)

// Edit says what changes in a task.
type Edit struct {
	Drop    bool             // leave the task out
	Control string           // whose labels change
	Data    bool             // Control is a key of the data
	Label   string           // new label; "": it stays
	Boxes   map[int]Decision // on the boxes that [Boxes] returns for Control, by their index
}

// Mend copies an export with the edits that change returns for its tasks. All other values and the order of keys stay;
// an export without edits is copied as it is.
func Mend(w io.Writer, r io.Reader, change func(*Task) (Edit, error)) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	c := &copier{change: change}
	lines := isTask(bytes.TrimLeft(text, " \t\r\n"))
	in := json.NewDecoder(bytes.NewReader(text))
	if !lines {
		if _, err := in.Token(); err != nil {
			return err
		}
	}
	read := readFirstTask
	for n := 1; in.More(); n++ {
		var raw json.RawMessage
		if err := in.Decode(&raw); err != nil {
			return err
		}
		t, err := read(json.NewDecoder(bytes.NewReader(raw)))
		if err != nil {
			return fmt.Errorf("task %d of the list: %w", n, err)
		}
		if read = readWholeTask; t.Min {
			read = readMinimal
		}
		if c.task != nil && t.Min && c.task.Min && t.ID != "" && t.ID == c.task.ID {
			t.Answers[0].setIndex(len(c.parts))
			c.task.Answers, c.parts = append(c.task.Answers, t.Answers...), append(c.parts, raw)
			continue
		}
		if err := c.putTask(); err != nil {
			return err
		}
		if t.ID == "" {
			t.ID = fmt.Sprintf("without an id, %d of the list", n)
		}
		c.task, c.parts = t, []json.RawMessage{raw}
	}
	if err := c.putTask(); err != nil {
		return err
	}
	switch {
	case !c.changed:
	case lines:
		text = append(bytes.Join(c.out, []byte("\n")), '\n')
	default:
		text = jsontext.Like(slices.Concat([]byte("["), bytes.Join(c.out, []byte(",\n")), []byte("]")), text)
	}
	_, err = w.Write(text)
	return err
}

// copier writes a copy of an export.
type copier struct {
	change  func(*Task) (Edit, error)
	task    *Task
	parts   []json.RawMessage // elements of the task
	out     [][]byte          // elements to write
	changed bool
}

// putTask keeps the last task that was read, with its edits.
func (c *copier) putTask() error {
	if c.task == nil {
		return nil
	}
	t := c.task
	t.Answers = keepNewest(t.Answers)
	e, err := c.change(t)
	c.changed = c.changed || e.Drop || e.Label != "" || len(e.Boxes) > 0
	if err == nil && !e.Drop {
		err = e.applyEdit(t, c.parts)
	}
	if err != nil {
		return fmt.Errorf("task %.40s: %w", t.ID, err)
	}
	for _, raw := range c.parts {
		if !e.Drop {
			c.out = append(c.out, raw)
		}
	}
	return nil
}

// applyEdit changes the elements of a task.
func (e *Edit) applyEdit(t *Task, parts []json.RawMessage) error {
	relabel := func(was json.RawMessage) json.RawMessage { return labelLike(was, e.Label) }
	switch {
	case e.Label == "" && len(e.Boxes) == 0:
		return nil
	case e.Label != "" && e.Data:
		for i, raw := range parts {
			if t.Min {
				parts[i] = jsontext.EditMember(raw, e.Control, relabel)
				continue
			}
			parts[i] = jsontext.EditMember(raw, "data", func(data json.RawMessage) json.RawMessage {
				return jsontext.EditMember(data, e.Control, relabel)
			})
		}
	case e.Label != "":
		choose := func(was json.RawMessage) json.RawMessage { return choiceLike(was, e.Label) }
		for _, a := range Counting(t.Answers) {
			if was := a.Of(e.Control); a.Skipped || len(was) == 0 || len(was) == 1 && was[0] == e.Label {
				continue
			}
			if t.Min {
				parts[a.index] = jsontext.EditMember(parts[a.index], e.Control, choose)
				continue
			}
			parts[0] = editResults(parts[0], a.index, func(_ int, result json.RawMessage) json.RawMessage {
				if name, _ := jsontext.Plain(jsontext.Member(result, "from_name")); name != e.Control {
					return result
				}
				return jsontext.EditMember(result, "value", choose)
			})
		}
	default:
		if err := e.applyBoxes(t, parts); err != nil {
			return err
		}
	}
	return e.checkEdit(t, parts)
}

// editResults changes the elements of the result of a task's annotation.
func editResults(task json.RawMessage, index int,
	change func(n int, result json.RawMessage) json.RawMessage) json.RawMessage {
	list := "annotations"
	if n := len(jsontext.Elements(jsontext.Member(task, list))); index >= n {
		list, index = "completions", index-n
	}
	return jsontext.EditMember(task, list, func(all json.RawMessage) json.RawMessage {
		return jsontext.EditElements(all, func(n int, annotation json.RawMessage) json.RawMessage {
			if n != index {
				return annotation
			}
			return jsontext.EditMember(annotation, "result", func(list json.RawMessage) json.RawMessage {
				return jsontext.EditElements(list, change)
			})
		})
	})
}

// applyBoxes changes the labels of boxes, and leaves boxes out.
func (e *Edit) applyBoxes(t *Task, parts []json.RawMessage) error {
	boxes, _ := Boxes(t.Answers, e.Control)
	decisions := map[int]map[int]Decision{} // by answer and by its result
	dropped := map[int]map[string]bool{}    // ids of regions: parts of a region have its id
	for n, what := range e.Boxes {
		if n >= len(boxes) {
			return fmt.Errorf("found %d boxes, expected one more", len(boxes))
		}
		b := &boxes[n]
		if decisions[b.answer] == nil {
			decisions[b.answer], dropped[b.answer] = map[int]Decision{}, map[string]bool{}
		}
		decisions[b.answer][b.result] = what
		if what.Drop && b.ID != "" {
			dropped[b.answer][b.ID] = true
		}
	}
	for answer, of := range decisions {
		label := func(value json.RawMessage, label string) json.RawMessage {
			for _, key := range regionKeys {
				value = jsontext.EditMember(value, key, func(was json.RawMessage) json.RawMessage {
					return labelLike(was, label)
				})
			}
			return value
		}
		change := func(n int, result json.RawMessage) json.RawMessage {
			id, err := jsontext.Plain(jsontext.Member(result, "id"))
			what, decided := of[n]
			switch {
			case decided && what.Drop, err == nil && dropped[answer][id]:
				return nil
			case !decided:
				return result
			case t.Min:
				return label(result, what.Label)
			}
			return jsontext.EditMember(result, "value", func(value json.RawMessage) json.RawMessage {
				return label(value, what.Label)
			})
		}
		if !t.Min {
			parts[0] = editResults(parts[0], answer, change)
			continue
		}
		parts[answer] = jsontext.EditMember(parts[answer], e.Control, func(list json.RawMessage) json.RawMessage {
			return jsontext.EditElements(list, change)
		})
	}
	return nil
}

// labelLike returns a label in place of a text, a number or a list of texts.
func labelLike(was json.RawMessage, label string) json.RawMessage {
	switch {
	case was[0] == '[':
		return slices.Concat([]byte("["), jsontext.Quote(label), []byte("]"))
	case was[0] != '"' && json.Valid([]byte(label)) && strings.IndexByte("0123456789-", label[0]) >= 0:
		return json.RawMessage(label)
	}
	return jsontext.Quote(label)
}

// choiceLike returns a label in place of choices: a text, an object with choices or a taxonomy, or a taxonomy's paths.
func choiceLike(was json.RawMessage, label string) json.RawMessage {
	levels := func(json.RawMessage) json.RawMessage {
		text, _ := json.Marshal([][]string{strings.Split(label, Separator)}) // of texts, which do not fail
		return text
	}
	switch was[0] {
	case '{':
		was = jsontext.EditMember(was, "choices", func(was json.RawMessage) json.RawMessage {
			return labelLike(was, label)
		})
		return jsontext.EditMember(was, "taxonomy", levels)
	case '[':
		return levels(was)
	}
	return labelLike(was, label)
}

// setIndex sets the index of an answer of JSON_MIN.
func (a *Answer) setIndex(index int) {
	a.index = index
	for i := range a.Boxes {
		a.Boxes[i].answer = index
	}
}

// checkEdit reads a task again and compares its label.
func (e *Edit) checkEdit(t *Task, parts []json.RawMessage) error {
	again := &Task{Min: t.Min}
	for i, p := range parts {
		read := readWholeTask
		if t.Min {
			read = readMinimal
		}
		part, err := read(json.NewDecoder(bytes.NewReader(p)))
		if err != nil {
			return err
		}
		for k := range part.Answers {
			if t.Min {
				part.Answers[k].setIndex(i)
			}
		}
		again.Answers, again.Data = append(again.Answers, part.Answers...), part.Data
	}
	again.Answers = keepNewest(again.Answers)
	found := ""
	switch {
	case e.Data:
		found = again.Data[e.Control]
	case e.Label != "":
		found, _ = Outcome(again.Answers, e.Control)
	default:
		return nil
	}
	if strings.TrimSpace(found) != strings.TrimSpace(e.Label) {
		return fmt.Errorf("no annotation has a choice of %q that could become %q: annotate the task first", e.Control,
			e.Label)
	}
	return nil
}
