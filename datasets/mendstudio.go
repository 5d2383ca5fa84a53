package datasets

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"winnow/datasets/labelstudio"
)

// studioLabels says where the labels of an export of Label Studio are.
type studioLabels struct {
	control         string
	fromData, boxes bool
	column          int // of the tasks' numbers among Columns
}

// lookUpStudio finds the control of an export's labels, and returns to the beginning.
func (m *mender) lookUpStudio(f io.ReadSeeker) error {
	in := bufio.NewReaderSize(f, 1<<16)
	s := newStudied(reading{ReadOptions: ReadOptions{Names: m.d.Names}})
	_, err := consumeMark(in)
	if err == nil {
		err = labelstudio.Each(in, s.findTaskKeys)
	}
	if err == nil {
		m.studio = &studioLabels{column: slices.Index(m.d.Columns, taskID)}
		m.studio.control, m.studio.fromData, err = s.labelSource()
		m.studio.boxes = s.boxed[m.studio.control] && !m.studio.fromData
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	return err
}

// copyTasks copies an export of Label Studio: its tasks get the new choices, and lack those that were dropped.
func (m *mender) copyTasks(in *bufio.Reader) error {
	if m.studio == nil || m.studio.column < 0 {
		return fmt.Errorf(": was not read as tasks of Label Studio before: the file has changed")
	}
	if err := labelstudio.Mend(m.out, in, m.editTask); err != nil {
		return fmt.Errorf(": %w", err)
	}
	return nil
}

// editTask returns the edits of a task. What was not read as a sample stays.
func (m *mender) editTask(t *labelstudio.Task) (e labelstudio.Edit, err error) {
	s := m.studio
	e = labelstudio.Edit{Control: s.control, Data: s.fromData}
	var label string
	if s.fromData {
		label = trimLineEnd(t.Data[s.control])
	} else {
		var v labelstudio.Verdict
		if label, v = labelstudio.Outcome(t.Answers, s.control); v == labelstudio.Dropped {
			return e, nil
		}
	}
	if !s.boxes {
		what, err := m.taskDecision(t, label)
		if e.Drop = what.Drop; what.Label != label {
			e.Label = what.Label
		}
		return e, err
	}
	e.Boxes = map[int]labelstudio.Decision{}
	boxes, _ := labelstudio.Boxes(t.Answers, s.control)
	for n, b := range boxes {
		if m.next >= len(m.d.Samples) || m.d.Samples[m.next].Extra[s.column] != t.ID ||
			!isRow(m.d.Samples[m.next].Path, n+1) {
			continue
		}
		what, err := m.taskDecision(t, b.Label)
		if err != nil {
			return e, err
		}
		if what.Drop || what.Label != b.Label {
			e.Boxes[n] = labelstudio.Decision(what)
		}
	}
	return e, nil
}

// taskDecision returns the decision on the next sample, which is one of a task.
func (m *mender) taskDecision(t *labelstudio.Task, label string) (what Decision, err error) {
	if m.next >= len(m.d.Samples) || m.d.Samples[m.next].Extra[m.studio.column] != t.ID {
		return what, fmt.Errorf("is not what was read before: the file has changed")
	}
	if what, err = m.decideNext(m.d.Samples[m.next].Path, label); err != nil {
		err = fmt.Errorf("with the label %q is not what was read before: the file has changed", label)
	}
	return what, err
}
