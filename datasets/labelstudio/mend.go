package labelstudio

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Edit says what changes in a task.
type Edit struct {
	Drop    bool             // leave the task out
	Control string           // whose labels change
	Data    bool             // Control is a key of the data
	Label   string           // new label; "": it stays
	Boxes   map[int]Decision // on the boxes that [Boxes] returns for Control, by their index
}

// Mend copies an export with the edits that change returns for its tasks. All other bytes stay.
func Mend(w io.Writer, r io.Reader, change func(*Task) (Edit, error)) error {
	c := &copier{out: bufio.NewWriter(w), change: change}
	text := bufio.NewReader(io.TeeReader(r, &c.passed))
	head, _ := text.Peek(1 << 12) // a short file gives less
	c.lines = isTask(bytes.TrimLeft(head, " \t\r\n"))
	in := json.NewDecoder(text)
	if !c.lines {
		if _, err := in.Token(); err != nil {
			return err
		}
		_, _ = c.out.Write(c.next(in.InputOffset())) // Flush returns the error, here and below
	}
	read := first
	for n := 1; in.More(); n++ {
		var raw json.RawMessage
		if err := in.Decode(&raw); err != nil {
			return err
		}
		t, err := read(json.NewDecoder(bytes.NewReader(raw)))
		if err != nil {
			return fmt.Errorf("task %d of the list: %w", n, err)
		}
		if read = whole; t.Min {
			read = minimal
		}
		text := c.next(in.InputOffset())
		p := part{gap: bytes.Clone(text[:len(text)-len(raw)]), raw: bytes.Clone(raw)}
		if c.task != nil && t.Min && c.task.Min && t.ID != "" && t.ID == c.task.ID {
			t.Answers[0].number(len(c.parts))
			c.task.Answers, c.parts = append(c.task.Answers, t.Answers...), append(c.parts, p)
			continue
		}
		if err := c.put(); err != nil {
			return err
		}
		if t.ID == "" {
			t.ID = fmt.Sprintf("without an id, %d of the list", n)
		}
		c.task, c.parts = t, []part{p}
	}
	if err := c.put(); err != nil {
		return err
	}
	_, _ = c.out.Write(c.passed.Bytes())
	if err := c.out.Flush(); err != nil {
		return err
	}
	_, err := io.Copy(w, r)
	return err
}

// part is an element of an export, and what stands before it.
type part struct{ gap, raw []byte }

// copier writes a copy of an export.
type copier struct {
	out    *bufio.Writer
	change func(*Task) (Edit, error)
	passed bytes.Buffer // what has been read and is not written yet
	at     int64        // the position of its first byte
	lines  bool
	kept   int
	task   *Task
	parts  []part // of the task
}

// next returns the bytes up to a position.
func (c *copier) next(to int64) []byte {
	n := to - c.at
	c.at = to
	return c.passed.Next(int(n))
}

// put writes the last task that was read, with its edits.
func (c *copier) put() error {
	if c.task == nil {
		return nil
	}
	t := c.task
	t.Answers = newest(t.Answers)
	e, err := c.change(t)
	if err == nil && !e.Drop {
		err = e.apply(t, c.parts)
	}
	if err != nil {
		return fmt.Errorf("task %.40s: %w", t.ID, err)
	}
	if e.Drop {
		return nil
	}
	for _, p := range c.parts {
		if c.kept == 0 { // dropped tasks were before it, if it has a comma
			if p.gap = bytes.Replace(p.gap, []byte(","), nil, 1); c.lines {
				p.gap = bytes.TrimLeft(p.gap, "\r\n")
			}
		}
		c.kept++
		_, _ = c.out.Write(p.gap)
		_, _ = c.out.Write(p.raw)
	}
	return nil
}

// apply changes the elements of a task.
func (e *Edit) apply(t *Task, parts []part) error {
	if e.Label == "" && len(e.Boxes) == 0 {
		return nil
	}
	changes := make([]edits, len(parts))
	switch {
	case e.Label != "" && e.Data:
		for i, p := range parts {
			data := value(p.raw)
			if !t.Min {
				data = data.member("data")
			}
			changes[i].label(data.member(e.Control), e.Label)
		}
	case e.Label != "":
		for _, a := range Counting(t.Answers) {
			if was := a.Of(e.Control); a.Skipped || len(was) == 0 || len(was) == 1 && was[0] == e.Label {
				continue
			}
			at, list := a.place(t, parts, e.Control)
			for _, v := range list {
				changes[at].choice(v, e.Label)
			}
		}
	default:
		if err := e.boxes(t, parts, changes); err != nil {
			return err
		}
	}
	for i := range parts {
		parts[i].raw = changes[i].apply(parts[i].raw)
	}
	return e.check(t, parts)
}

// number sets the index of an answer of JSON_MIN.
func (a *Answer) number(index int) {
	a.index = index
	for i := range a.Boxes {
		a.Boxes[i].answer = index
	}
}

// place returns the element of an answer, and its values of a control.
func (a *Answer) place(t *Task, parts []part, control string) (at int, list []jsonValue) {
	if t.Min {
		return a.index, []jsonValue{value(parts[a.index].raw).member(control)}
	}
	for _, r := range a.results(parts[0].raw) {
		if name, _ := r.member("from_name").text(); name == control {
			list = append(list, r.member("value"))
		}
	}
	return 0, list
}

// results returns the elements of an answer's result.
func (a *Answer) results(raw []byte) []jsonValue {
	task := value(raw)
	all := append(task.member("annotations").elements(), task.member("completions").elements()...)
	if a.index >= len(all) {
		return nil
	}
	return all[a.index].member("result").elements()
}

// boxes collects the changes of boxes.
func (e *Edit) boxes(t *Task, parts []part, changes []edits) error {
	boxes, _ := Boxes(t.Answers, e.Control)
	lists, dropped := map[int][]jsonValue{}, map[int]map[int]bool{} // by answer
	for n, what := range e.Boxes {
		if n >= len(boxes) {
			return fmt.Errorf("found %d boxes, expected one more", len(boxes))
		}
		b := &boxes[n]
		a := t.Answers[slices.IndexFunc(t.Answers, func(a Answer) bool { return a.index == b.answer })]
		if lists[b.answer] == nil {
			dropped[b.answer] = map[int]bool{}
			if t.Min {
				lists[b.answer] = value(parts[a.index].raw).member(e.Control).elements()
			} else {
				lists[b.answer] = a.results(parts[0].raw)
			}
		}
		list := lists[b.answer]
		of, at := list[b.result], 0
		if t.Min {
			at = b.answer
		} else {
			of = of.member("value")
		}
		if !what.Drop {
			for _, key := range regionKeys {
				changes[at].label(of.member(key), what.Label)
			}
			continue
		}
		id, known := list[b.result].member("id").text()
		for i, other := range list { // parts of a region have its id
			same, ok := other.member("id").text()
			if i == b.result || known && ok && same == id {
				dropped[b.answer][i] = true
			}
		}
	}
	for answer, list := range lists {
		at := 0
		if t.Min {
			at = answer
		}
		changes[at].drop(list, dropped[answer])
	}
	return nil
}

// check reads a task again and compares its label.
func (e *Edit) check(t *Task, parts []part) error {
	again := &Task{Min: t.Min}
	for i, p := range parts {
		read := whole
		if t.Min {
			read = minimal
		}
		part, err := read(json.NewDecoder(bytes.NewReader(p.raw)))
		if err != nil {
			return err
		}
		for k := range part.Answers {
			if t.Min {
				part.Answers[k].number(i)
			}
		}
		again.Answers, again.Data = append(again.Answers, part.Answers...), part.Data
	}
	again.Answers = newest(again.Answers)
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

// edits are changes of an element's bytes.
type edits []edit

type edit struct {
	from, to int
	text     []byte
}

// label puts a label in place of a text, a number or a list of texts.
func (e *edits) label(v jsonValue, label string) {
	switch {
	case v.from < v.to && v.all[v.from] == '[':
		*e = append(*e, edit{v.from, v.to, append(append([]byte("["), quoted(label)...), ']')})
	case v.from < v.to:
		text := quoted(label)
		if v.all[v.from] != '"' && json.Valid([]byte(label)) && strings.IndexByte("0123456789-", label[0]) >= 0 {
			text = []byte(label)
		}
		*e = append(*e, edit{v.from, v.to, text})
	}
}

// choice puts a label in place of choices: a text, an object with choices or a taxonomy, or a taxonomy's paths.
func (e *edits) choice(v jsonValue, label string) {
	levels := func(v jsonValue) {
		if v.from < v.to {
			text, _ := json.Marshal([][]string{strings.Split(label, Separator)}) // of texts, which do not fail
			*e = append(*e, edit{v.from, v.to, text})
		}
	}
	switch {
	case v.from >= v.to:
	case v.all[v.from] == '{':
		e.label(v.member("choices"), label)
		levels(v.member("taxonomy"))
	case v.all[v.from] == '[':
		levels(v)
	default:
		e.label(v, label)
	}
}

// drop leaves out elements of a list, each with the comma before it or, as long as none stays, behind it.
func (e *edits) drop(list []jsonValue, which map[int]bool) {
	kept := false
	for i, v := range list {
		switch {
		case !which[i]:
			kept = true
		case kept:
			*e = append(*e, edit{list[i-1].to, v.to, nil})
		case i+1 < len(list):
			*e = append(*e, edit{v.from, list[i+1].from, nil})
		default:
			*e = append(*e, edit{v.from, v.to, nil})
		}
	}
}

// apply returns the changed bytes.
func (e edits) apply(raw []byte) []byte {
	slices.SortFunc(e, func(a, b edit) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	var out []byte
	at := 0
	for _, d := range e {
		if d.from < at {
			continue // of an element that is left out
		}
		out = append(append(out, raw[at:d.from]...), d.text...)
		at = d.to
	}
	return append(out, raw[at:]...)
}

// jsonValue is a value in a JSON text; from = to: there is none.
type jsonValue struct {
	all      []byte
	from, to int
}

func value(raw []byte) jsonValue { return jsonValue{raw, 0, len(raw)} }

// text returns a value that is a text or a number.
func (v jsonValue) text() (string, bool) {
	raw := v.all[v.from:v.to]
	if len(raw) == 0 || strings.IndexByte("{[n", raw[0]) >= 0 {
		return "", false
	}
	var s string
	if raw[0] != '"' {
		return string(raw), true
	}
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

// member returns the value of an object's key, the last if there are several.
func (v jsonValue) member(key string) (found jsonValue) {
	in := json.NewDecoder(bytes.NewReader(v.all[v.from:v.to]))
	if t, err := in.Token(); err != nil || t != json.Delim('{') {
		return jsonValue{}
	}
	for in.More() {
		name, err := in.Token()
		var raw json.RawMessage
		if err == nil {
			err = in.Decode(&raw)
		}
		if err != nil {
			return jsonValue{}
		}
		if name == key {
			end := v.from + int(in.InputOffset())
			found = jsonValue{v.all, end - len(raw), end}
		}
	}
	return found
}

// elements returns the elements of a list.
func (v jsonValue) elements() (list []jsonValue) {
	in := json.NewDecoder(bytes.NewReader(v.all[v.from:v.to]))
	if t, err := in.Token(); err != nil || t != json.Delim('[') {
		return nil
	}
	for in.More() {
		var raw json.RawMessage
		if in.Decode(&raw) != nil {
			return nil
		}
		end := v.from + int(in.InputOffset())
		list = append(list, jsonValue{v.all, end - len(raw), end})
	}
	return list
}

// quoted returns a JSON string.
func quoted(s string) []byte {
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	_ = to.Encode(s) // cannot fail: a string, into a buffer
	return bytes.TrimSpace(out.Bytes())
}
