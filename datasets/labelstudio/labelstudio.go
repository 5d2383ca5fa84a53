// Package labelstudio reads what annotators chose for images from exports of Label Studio in the form JSON:
// https://labelstud.io/guide/task_format. It knows choices and rectangles. The package knows nothing of manifests; it
// only describes files.
package labelstudio

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/url"
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
}

// Answer is what an annotator said last about a task.
type Answer struct {
	Choices map[string][]string // by control
	Boxes   []Box               // of every control
	Skipped bool
	truth   bool // marked as the ground truth
	at      string
}

// Box is the box around a labelled rectangle of a picture. Sides are percent of the picture's.
type Box struct {
	Control, Label     string // Label is "" if the region has several
	Left, Top          float64
	Width, Height      float64
	PictureW, PictureH float64 // sides of the picture in pixels, 0 if unknown
}

// element is a task of an export as JSON.
type element struct {
	ID          any                        `json:"id"`
	Data        map[string]json.RawMessage `json:"data"`
	Annotations []struct {
		ID        any    `json:"id"`
		By        any    `json:"completed_by"`
		Cancelled bool   `json:"was_cancelled"`
		Truth     bool   `json:"ground_truth"`
		Created   string `json:"created_at"`
		Updated   string `json:"updated_at"`
		Result    []struct {
			Control string  `json:"from_name"`
			Type    string  `json:"type"`
			Width   float64 `json:"original_width"`
			Height  float64 `json:"original_height"`
			Value   struct {
				Choices  []string `json:"choices"`
				Labels   []string `json:"rectanglelabels"`
				X        float64  `json:"x"`
				Y        float64  `json:"y"`
				Width    float64  `json:"width"`
				Height   float64  `json:"height"`
				Rotation float64  `json:"rotation"` // degrees, clockwise
			} `json:"value"`
		} `json:"result"`
	} `json:"annotations"`
}

// Is reports whether a file with this beginning is a list of tasks.
func Is(head []byte) bool {
	rest, list := bytes.CutPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("["))
	keys := jsontext.Keys(bytes.TrimLeft(rest, " \t\r\n"))
	return list && keys["data"] == '{' && (keys["annotations"] == '[' || keys["predictions"] == '[')
}

// Each passes the tasks of an export to take in order. Errors say in which task they occur.
func Each(r io.Reader, take func(*Task) error) error {
	in := json.NewDecoder(bufio.NewReader(r))
	if start, err := in.Token(); err != nil || start != json.Delim('[') {
		return errors.Join(errors.New("expected a list of tasks, as Label Studio exports it as JSON"), err)
	}
	for n := 1; in.More(); n++ {
		var e element
		err := in.Decode(&e)
		if err == nil && e.Data == nil {
			err = errors.New("it has no data, expected data and annotations")
		}
		if err == nil {
			err = take(e.newTask())
		}
		if err != nil {
			return fmt.Errorf("task %d of the list: %w", n, err)
		}
	}
	_, err := in.Token()
	if _, more := in.Token(); err == nil && !errors.Is(more, io.EOF) {
		err = errors.New("found more behind the list of tasks")
	}
	return err
}

// newTask returns the task of an element.
func (e *element) newTask() *Task {
	t := &Task{ID: showValue(e.ID), Keys: slices.Sorted(maps.Keys(e.Data)), Data: make(map[string]string, len(e.Data))}
	for key, raw := range e.Data {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		t.Data[key] = text
	}
	last := map[string]int{} // the answer of each annotator
	for _, a := range e.Annotations {
		answer := Answer{Choices: map[string][]string{}, Skipped: a.Cancelled, truth: a.Truth,
			at: max(a.Created, a.Updated)}
		for _, r := range a.Result {
			switch v := r.Value; {
			case r.Type == "choices":
				answer.Choices[r.Control] = append(answer.Choices[r.Control], v.Choices...)
			case r.Type == "rectanglelabels" && len(v.Labels) > 0:
				b := Box{r.Control, "", v.X, v.Y, v.Width, v.Height, r.Width, r.Height}
				if len(v.Labels) == 1 {
					b.Label = v.Labels[0]
				}
				b.turn(v.Rotation * math.Pi / 180)
				answer.Boxes = append(answer.Boxes, b)
			}
		}
		by := showValue(a.By)
		if by == "" {
			by = "annotation " + showValue(a.ID)
		}
		i, before := last[by]
		if !before {
			last[by] = len(t.Answers)
			t.Answers = append(t.Answers, answer)
		} else if answer.at >= t.Answers[i].at {
			t.Answers[i] = answer
		}
	}
	return t
}

// showValue returns the number or text of an id, or the object of a user, as text; "" for none.
func showValue(v any) string {
	if v == nil {
		return ""
	}
	if f, ok := v.(float64); ok && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return fmt.Sprintf("%.0f", f)
	}
	return fmt.Sprint(v)
}

// turn replaces a box turned around its upper left corner by the box around it.
func (b *Box) turn(angle float64) {
	if angle == 0 || b.PictureW <= 0 || b.PictureH <= 0 {
		return
	}
	sin, cos := math.Sincos(angle)
	w, h := b.Width*b.PictureW, b.Height*b.PictureH // in hundredths of pixels
	low, high := [2]float64{}, [2]float64{}
	for _, c := range [][2]float64{{w, 0}, {0, h}, {w, h}} {
		x, y := (c[0]*cos-c[1]*sin)/b.PictureW, (c[0]*sin+c[1]*cos)/b.PictureH
		low, high = [2]float64{min(low[0], x), min(low[1], y)}, [2]float64{max(high[0], x), max(high[1], y)}
	}
	b.Left, b.Top, b.Width, b.Height = b.Left+low[0], b.Top+low[1], high[0]-low[0], high[1]-low[1]
}

// Origin says where the image of a task is stored.
type Origin int

// The origins.
const (
	Plain     Origin = iota // at a path
	local                   // a file below LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT
	Uploaded                // uploaded into Label Studio, which stores it below media in its data folder
	Elsewhere               // at a URL
	Inside                  // embedded in the task itself
)

// Locate returns the path of a task's image; if it is below the document root or the folder media, relative to that.
func Locate(value string) (string, Origin) {
	value = strings.TrimSpace(value)
	if len(value) >= 5 && strings.EqualFold(value[:5], "data:") {
		return "", Inside
	}
	remote := strings.Contains(value, "://")
	u, err := url.Parse(value)
	switch {
	case err != nil:
	case u.Query().Get("d") != "" && (!remote && u.Path == "/data" ||
		strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/data/local-files")):
		return strings.TrimLeft(u.Query().Get("d"), "/"), local
	case remote && strings.Contains(u.Path, "/data/upload/"), strings.HasPrefix(u.Path, "/data/upload/"):
		return u.Path[strings.Index(u.Path, "/data/upload/")+len("/data/"):], Uploaded
	}
	if remote {
		return value, Elsewhere
	}
	return value, Plain
}
