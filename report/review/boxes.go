package review

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"winnow/datasets"
	"winnow/datasets/labelstudio"
	"winnow/internal/hint"
	"winnow/report/review/decisions"
)

func isCrop(path string) bool {
	_, _, cropped := datasets.CutCrop(path)
	return cropped
}

// writeBoxes writes a task for each picture of the crops in list, and returns their number. The boxes are predictions:
// each has the decided label or else the suggested one, and boxes that were dropped are left out.
func (r *Reviewer) writeBoxes(out *labelstudio.Writer, list []int32) (tasks int, err error) {
	var pictures []string
	crops := map[string][]int32{}
	for _, image := range list {
		file, _, cropped := datasets.CutCrop(r.table.getImagePath(image))
		if !cropped {
			return 0, fmt.Errorf("%s: is a whole picture, expected a crop as the others: Label Studio labels one "+
				"or the other", file)
		}
		if crops[file] == nil {
			pictures = append(pictures, file)
		}
		crops[file] = append(crops[file], image)
	}
	root, err := os.OpenRoot(r.Root.Path())
	if err != nil {
		return 0, hint.With(fmt.Errorf("review: Label Studio shows files of a folder: %w", err),
			"name the folder of the images as the root; unpack a .zip file first")
	}
	defer root.Close()
	for _, file := range pictures {
		width, height, err := datasets.Sides(root.FS(), file)
		if err != nil {
			return 0, err
		}
		s := labelstudio.Sent{Image: path.Join(r.Root.Base(), file), Version: "winnow"}
		if r.AuditFile != "" {
			s.Version = r.auditVersion()
		}
		slices.Sort(crops[file])
		for _, image := range crops[file] {
			if r.decided.action[image] == drop {
				continue
			}
			_, c, _ := datasets.CutCrop(r.table.getImagePath(image))
			b := labelstudio.SentBox{
				ID:       labelstudio.BoxID(r.table.getImagePath(image)),
				Label:    r.table.nameGivenLabel(image),
				X:        c.X,
				Y:        c.Y,
				W:        c.W,
				H:        c.H,
				PictureW: int(width),
				PictureH: int(height),
			}
			if id := r.table.id[image]; id != none && r.table.list[id].suggested != r.table.list[id].given {
				b.Label, b.Score = r.table.classes[r.table.list[id].suggested], numberOrNil(r.table.list[id].better)
			}
			switch r.decided.action[image] {
			case keep:
				b.Label, b.Score = r.table.nameGivenLabel(image), nil
			case relabel:
				b.Label, b.Score = r.table.classes[r.decided.label[image]], nil
			}
			s.Boxes = append(s.Boxes, b)
		}
		if len(s.Boxes) == 0 {
			continue
		}
		if err := out.Write(file, s); err != nil {
			return 0, err
		}
		tasks++
	}
	return tasks, nil
}

// boxed holds the answers about the boxes of a picture.
type boxed struct {
	task    string
	images  []int32  // crops that the task asks about
	ids     []string // of their boxes
	answers []labelstudio.Answer
}

// addBoxes keeps the answers about boxes of a task that was written by writeBoxes; ok is false for other tasks.
func (t *taker) addBoxes(task *labelstudio.Task) (ok bool, err error) {
	ids := strings.Fields(task.Data[labelstudio.BoxesKey])
	if len(ids) == 0 {
		return false, nil
	}
	if t.boxIDs == nil {
		t.boxIDs = map[string]int32{}
		for image := range t.Manifest.Samples {
			if p := t.table.getImagePath(int32(image)); isCrop(p) {
				t.boxIDs[labelstudio.BoxID(p)] = int32(image)
			}
		}
	}
	b := boxed{task: task.ID, answers: labelstudio.Counting(task.Answers)}
	for _, id := range ids {
		image, known := t.boxIDs[id]
		if !known {
			continue
		}
		if other, twice := t.seen[image]; twice {
			return false, fmt.Errorf("is about the box of task %s, %q: expected one task a picture", other,
				t.table.getImagePath(image))
		}
		t.seen[image] = task.ID
		b.images, b.ids = append(b.images, image), append(b.ids, id)
	}
	if len(b.ids) == 0 {
		return false, nil
	}
	t.controls.Add(task)
	if name, ok := labelstudio.Usual(task.Keys); ok && task.Min {
		t.controls[name] = true
	}
	t.boxes = append(t.boxes, b)
	return true, nil
}

// boxChanges returns the decisions of an answer about the boxes of a picture: a box with its label is kept, one with
// another is relabelled, and one that was deleted is dropped. An answer without a box decides nothing.
func (t *taker) boxChanges(b *boxed, answer *labelstudio.Answer, control string) (list []decisions.Change) {
	_, verdict := answer.Verdict(control)
	whole := verdict == labelstudio.Dropped || verdict == labelstudio.Skipped
	var drawn []labelstudio.Box
	for _, box := range answer.Boxes {
		if box.Control == control {
			drawn = append(drawn, box)
		}
	}
	if len(drawn) == 0 && !whole {
		return nil
	}
	for i, image := range b.images {
		p, given := t.table.getImagePath(image), t.table.nameGivenLabel(image)
		c := decisions.Change{Path: p, Given: given, Action: decisions.Drop}
		at := slices.IndexFunc(drawn, func(d labelstudio.Box) bool { return d.ID == b.ids[i] })
		if at < 0 {
			at = slices.IndexFunc(drawn, func(d labelstudio.Box) bool { return d.ID == "" && isNear(p, &d) })
		}
		switch {
		case verdict == labelstudio.Skipped:
			c.Action, c.Note = decisions.Unsure, "skipped in Label Studio"
			t.taken.Unsure++
		case whole || at < 0:
			t.taken.Dropped++
		case drawn[at].Label == "":
			c.Action, c.Note = decisions.Unsure, "several labels in Label Studio"
			t.taken.Unsure++
		case drawn[at].Label == given:
			c.Action = decisions.Keep
			t.taken.Kept++
		default:
			c.Action, c.Label = decisions.Relabel, drawn[at].Label
			t.taken.Relabelled++
		}
		list = append(list, c)
	}
	return list
}

// isNear reports whether a box without an id is that of a crop, up to a pixel.
func isNear(path string, b *labelstudio.Box) bool {
	_, c, _ := datasets.CutCrop(path)
	near := func(share, side float64, pixels int) bool {
		d := share/100*side - float64(pixels)
		return d > -1 && d < 1
	}
	return near(b.Left, b.PictureW, c.X) && near(b.Top, b.PictureH, c.Y) && near(b.Width, b.PictureW, c.W) &&
		near(b.Height, b.PictureH, c.H)
}
