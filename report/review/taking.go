package review

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"winnow/datasets/labelstudio"
	"winnow/internal/regular"
	"winnow/report/review/decisions"
)

// Taken counts the decisions in an export of Label Studio. Each annotator has one decision about an image.
type Taken struct {
	Path       string   `json:"path"`
	Tasks      int      `json:"tasks"`
	Control    string   `json:"control"` // the control whose choices are the labels
	Reviewers  []string `json:"reviewers"`
	New        int      `json:"new"` // new decisions
	Kept       int      `json:"kept"`
	Dropped    int      `json:"dropped"`
	Relabelled int      `json:"relabelled"`
	Unsure     int      `json:"unsure"`     // skipped, or several choices
	Sent       int      `json:"sent"`       // decisions that came back unchanged and are not taken again
	Open       int      `json:"open"`       // tasks without an answer
	Strangers  []string `json:"strangers"`  // tasks about images that are not in the manifest
	NewLabels  []string `json:"new_labels"` // labels that no image has
}

// Text says what was taken.
func (t Taken) Text() string {
	said := fmt.Sprintf("%s: %d tasks, labels by the choices of %q; "+
		"%d decisions of %s: %d keep, %d drop, %d relabel, %d unsure (skipped, or several choices); %d are new\n",
		t.Path, t.Tasks, t.Control, t.Kept+t.Dropped+t.Relabelled+t.Unsure, strings.Join(t.Reviewers, ", "),
		t.Kept, t.Dropped, t.Relabelled, t.Unsure, t.New)
	if t.Open+t.Sent > 0 {
		said += fmt.Sprintf("%d tasks without an answer, %d decisions unchanged since the export\n", t.Open, t.Sent)
	}
	if n := len(t.Strangers); n > 0 {
		said += fmt.Sprintf("%d tasks are about images that the manifest does not have, such as task %s\n",
			n, t.Strangers[0])
	}
	if n := len(t.NewLabels); n > 0 {
		said += fmt.Sprintf("%d labels are new, such as %q\n", n, t.NewLabels[0])
	}
	return said
}

// answered holds the answers about an image.
type answered struct {
	image   int32
	task    string
	answers []labelstudio.Answer
}

// taker reads an export.
type taker struct {
	*Reviewer
	taken    Taken
	list     []answered
	controls labelstudio.Controls
	boxes    []boxed
	boxIDs   map[string]int32 // crops by the ids of their boxes
	seen     map[int32]string // the task about an image
	key      string           // the data field with the image; known after the first match
	prefix   string           // what precedes the manifest's paths in that field
}

// Take takes the annotations in an export of Label Studio, f.Import, as decisions, one for each annotator and
// image. Choosing the given label keeps it, another choice relabels; skipped tasks and several choices are
// unsure. Decisions already known are not taken again.
func Take(f Files) (Taken, error) {
	in, err := regular.Open(f.Import)
	if err != nil {
		return Taken{}, fmt.Errorf("review: %w", err)
	}
	defer in.Close()
	d, err := f.readManifest()
	if err != nil {
		return Taken{}, err
	}
	if err := looksExported(in); err != nil { // checked before a file of decisions is created
		return Taken{}, fmt.Errorf("review: %s: %w", f.Import, err)
	}
	made, err := decisions.Open(f.decisionsFile())
	if err != nil {
		return Taken{}, err
	}
	r, err := New(Config{ManifestFile: f.Manifest, Manifest: d, Decisions: made})
	if err != nil {
		return Taken{}, errors.Join(err, made.Close())
	}
	t, err := r.takeAnswers(in, f.Import)
	return t, errors.Join(err, made.Close())
}

// looksExported reads a file's first task, if it has one, and returns to the beginning.
func looksExported(in io.ReadSeeker) error {
	enough := errors.New("enough")
	err := labelstudio.Each(in, func(*labelstudio.Task) error { return enough })
	if err != nil && !errors.Is(err, enough) {
		return err
	}
	_, err = in.Seek(0, io.SeekStart)
	return err
}

func (r *Reviewer) takeAnswers(in io.Reader, file string) (Taken, error) {
	t := &taker{
		Reviewer: r, controls: labelstudio.Controls{}, seen: map[int32]string{},
		taken: Taken{Path: file, Strangers: []string{}, NewLabels: []string{}, Reviewers: []string{}},
	}
	err := labelstudio.Each(in, t.addTask)
	if err == nil {
		err = t.storeAnswers()
	}
	if err != nil {
		return Taken{}, fmt.Errorf("review: %s: %w", file, err)
	}
	return t.taken, nil
}

// addTask finds the image of a task and keeps its answers.
func (t *taker) addTask(task *labelstudio.Task) error {
	t.taken.Tasks++
	if ok, err := t.addBoxes(task); ok || err != nil {
		return err
	}
	image, ok := t.findTaskImage(task)
	if !ok {
		t.taken.Strangers = append(t.taken.Strangers, task.ID)
		return nil
	}
	if other, twice := t.seen[image]; twice {
		return fmt.Errorf(
			"is about the image of task %s, %q: expected one task an image",
			other,
			t.table.getImagePath(image),
		)
	}
	t.seen[image] = task.ID
	t.controls.Add(task)
	if name, ok := labelstudio.Usual(task.Keys); ok && task.Min {
		t.controls[name] = true
	}
	t.list = append(t.list, answered{image, task.ID, labelstudio.Counting(task.Answers)})
	return nil
}

// findTaskImage returns the image of a task, by the path that winnow wrote into it, or by its file. The folders in
// front of a file's path in the manifest are the same for all tasks.
func (t *taker) findTaskImage(task *labelstudio.Task) (int32, bool) {
	if image, ok := t.table.findImage(task.Data[labelstudio.PathKey]); ok {
		return image, true
	}
	if t.key != "" {
		file, _ := labelstudio.Locate(task.Data[t.key])
		below, ok := strings.CutPrefix(path.Clean(file), t.prefix)
		if !ok {
			return none, false
		}
		return t.table.findImage(below)
	}
	for _, key := range task.Keys {
		file, _ := labelstudio.Locate(task.Data[key])
		file = path.Clean(file)
		for at := 0; at < len(file); {
			if image, ok := t.table.findImage(file[at:]); ok {
				t.key, t.prefix = key, file[:at]
				return image, true
			}
			next := strings.IndexByte(file[at:], '/')
			if next < 0 {
				break
			}
			at += next + 1
		}
	}
	return none, false
}

// storeAnswers stores the answers as decisions.
func (t *taker) storeAnswers() error {
	if len(t.list)+len(t.boxes) == 0 {
		return fmt.Errorf("none of its %d tasks is about an image of %s", t.taken.Tasks, t.ManifestFile)
	}
	control, err := t.controls.Pick()
	if err != nil && len(t.controls) > 0 {
		return fmt.Errorf("%w: call it label", err)
	}
	t.taken.Control = control
	changes, unknown := map[string][]decisions.Change{}, map[string]bool{}
	keep := func(task, reviewer string, c decisions.Change) error {
		if err := decisions.CheckReviewer(reviewer); err != nil {
			return fmt.Errorf("task %s: %w", task, err)
		}
		class, known := t.table.classOf[c.Label]
		if c.Action == decisions.Relabel && (!known || int(class) >= len(t.Manifest.Classes)) {
			unknown[c.Label] = true
		}
		changes[reviewer] = append(changes[reviewer], c)
		return nil
	}
	for i := range t.boxes {
		b, some := &t.boxes[i], false
		for k := range b.answers {
			for _, c := range t.boxChanges(b, &b.answers[k], control) {
				some = true
				if err := keep(b.task, reviewerOf(&b.answers[k]), c); err != nil {
					return err
				}
			}
		}
		if !some {
			t.taken.Open++
		}
	}
	for _, a := range t.list {
		some := false
		for i := range a.answers {
			c, reviewer, ok := t.changeOfAnswer(a, &a.answers[i], control)
			if !ok {
				some = some || a.answers[i].Sent()
				continue
			}
			some = true
			if err := keep(a.task, reviewer, c); err != nil {
				return err
			}
		}
		if !some {
			t.taken.Open++
		}
	}
	t.taken.NewLabels = append(t.taken.NewLabels, slices.Sorted(maps.Keys(unknown))...)
	t.taken.Reviewers = append(t.taken.Reviewers, slices.Sorted(maps.Keys(changes))...)
	all := map[string]bool{}
	for _, name := range append(slices.Clone(t.decided.reviewers), t.taken.Reviewers...) {
		all[name] = true
	}
	if len(all) > mostReviewers {
		return fmt.Errorf("with its annotators there are %d reviewers of the manifest, expected at most %d",
			len(all), mostReviewers)
	}
	for _, reviewer := range t.taken.Reviewers {
		if err := t.storeNewDecisions(reviewer, changes[reviewer]); err != nil {
			return err
		}
	}
	return nil
}

// changeOfAnswer returns the decision of an answer; ok is false if it decides nothing.
func (t *taker) changeOfAnswer(a answered, answer *labelstudio.Answer, control string) (
	c decisions.Change, reviewer string, ok bool) {
	given := t.table.nameGivenLabel(a.image)
	c = decisions.Change{Path: t.table.getImagePath(a.image), Given: given}
	label, verdict := answer.Verdict(control)
	switch verdict {
	case labelstudio.Unannotated:
		return c, "", false
	case labelstudio.Labelled:
		if c.Action = decisions.Keep; label != given {
			c.Action, c.Label = decisions.Relabel, label
		}
	case labelstudio.Dropped:
		c.Action = decisions.Drop
	case labelstudio.Skipped:
		c.Action, c.Note = decisions.Unsure, "skipped in Label Studio"
	case labelstudio.Several:
		c.Action = decisions.Unsure
		c.Note = fmt.Sprintf("several choices in Label Studio: %.900q", answer.Of(control))
	}
	if answer.Sent() {
		t.taken.Sent++
		return c, "", false
	}
	switch c.Action {
	case decisions.Keep:
		t.taken.Kept++
	case decisions.Drop:
		t.taken.Dropped++
	case decisions.Relabel:
		t.taken.Relabelled++
	default:
		t.taken.Unsure++
	}
	return c, reviewerOf(answer), true
}

// reviewerOf returns the annotator's name as a reviewer.
func reviewerOf(answer *labelstudio.Answer) string {
	if strings.Trim(answer.Annotator, "0123456789") == "" {
		return strings.TrimSpace("Label Studio " + answer.Annotator)
	}
	return answer.Annotator
}

// storeNewDecisions makes those of a reviewer's decisions that are new, all or none.
func (t *taker) storeNewDecisions(reviewer string, list []decisions.Change) error {
	who := t.decided.numberOf(reviewer)
	fresh := list[:0]
	for _, c := range list {
		image, _ := t.table.findImage(c.Path) // found before
		was := t.decided.getVote(image, who)
		if actionNames[was.action] == c.Action &&
			(c.Action != decisions.Relabel || t.decided.labelName(was.label) == c.Label) {
			continue
		}
		if c.Version = was.version; c.Note == "" {
			c.Note = was.note
		}
		fresh = append(fresh, c)
	}
	if len(fresh) == 0 {
		return nil
	}
	t.taken.New += len(fresh)
	_, err := t.Decisions.Decide(decisions.Author{Tab: decisions.Imported, Reviewer: reviewer}, fresh)
	return err
}
