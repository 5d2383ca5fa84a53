package labelstudio

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// control is the control of Config that holds the labels. object is the control that shows the image, and
// the key of a task's data that holds it.
const (
	control = "label"
	object  = "image"
)

// Sent is a task to write.
type Sent struct {
	Image   string      // path below the document root
	Data    []Field     // shown next to the image
	Suggest *Suggestion // nil if there is none
	Decided *Decision   // nil if the task is open
	Boxes   []SentBox   // labelled boxes of the image, to be judged instead of it
	Version string      // of the model that suggests their labels
}

// SentBox is a box in pixels, of a picture of PictureW by PictureH. Its label is suggested.
type SentBox struct {
	ID, Label          string
	X, Y, W, H         int
	PictureW, PictureH int
	Score              *float64 // nil if unknown
}

// Field is a value of a task's data: a text or a number.
type Field struct {
	Name  string
	Value any
}

// Suggestion is a label that a model suggests.
type Suggestion struct {
	Label   string
	Score   *float64 // nil if unknown
	Version string   // of the model
}

// Decision is a decision on a task that was made before it is written.
type Decision struct {
	Drop  bool
	Label string
}

type prediction struct {
	Version string   `json:"model_version"`
	Score   *float64 `json:"score,omitempty"`
	Result  []result `json:"result"`
}

type made struct {
	Result []result `json:"result"`
}

// result is a choice.
type result struct {
	ID    string `json:"id"`
	From  string `json:"from_name"`
	To    string `json:"to_name"`
	Type  string `json:"type"`
	Value struct {
		Choices []string `json:"choices"`
	} `json:"value"`
}

// rectangle is a labelled box, in percent of the picture's sides.
type rectangle struct {
	ID     string   `json:"id"`
	From   string   `json:"from_name"`
	To     string   `json:"to_name"`
	Type   string   `json:"type"`
	Width  int      `json:"original_width"`
	Height int      `json:"original_height"`
	Score  *float64 `json:"score,omitempty"`
	Value  struct {
		X        float64  `json:"x"`
		Y        float64  `json:"y"`
		Width    float64  `json:"width"`
		Height   float64  `json:"height"`
		Rotation float64  `json:"rotation"`
		Labels   []string `json:"rectanglelabels"`
	} `json:"value"`
}

func (b *SentBox) newRectangle() rectangle {
	r := rectangle{ID: b.ID, From: control, To: object, Type: "rectanglelabels", Width: b.PictureW, Height: b.PictureH,
		Score: b.Score}
	r.Value.X, r.Value.Width = 100*float64(b.X)/float64(b.PictureW), 100*float64(b.W)/float64(b.PictureW)
	r.Value.Y, r.Value.Height = 100*float64(b.Y)/float64(b.PictureH), 100*float64(b.H)/float64(b.PictureH)
	r.Value.Labels = []string{b.Label}
	return r
}

// BoxID is the id of a box that is written; path is that of its crop in the manifest.
func BoxID(path string) string { return sentID(path, control, "box") }

// BoxesKey is the key of a task's data that lists the ids of the boxes that were written, joined by spaces.
const BoxesKey = "boxes"

func newChoice(id, control, value string) []result {
	r := result{ID: id, From: control, To: object, Type: "choices"}
	r.Value.Choices = []string{value}
	return []result{r}
}

const sentPrefix = "winnow-"

// sentID is the id of a decision that is written. If it comes back with the same id, nobody has changed it.
func sentID(path, control, value string) string {
	sum := sha256.Sum256([]byte(path + "\x00" + control + "\x00" + value))
	return sentPrefix + hex.EncodeToString(sum[:6])
}

// Keys of a task's data: the path of the image in the manifest, and its label there, which Config shows.
const (
	PathKey  = "path"
	GivenKey = "given_label"
)

// Writer writes a list of tasks.
type Writer struct {
	out   *bufio.Writer
	tasks int
}

// NewWriter returns a writer of tasks to w. Close ends the list.
func NewWriter(w io.Writer) *Writer { return &Writer{out: bufio.NewWriter(w)} }

// Write writes a task; path is the image's path in the manifest.
func (w *Writer) Write(path string, s Sent) error {
	var text bytes.Buffer
	to := json.NewEncoder(&text)
	to.SetEscapeHTML(false)
	var failed error
	put := func(lead string, v any) {
		text.WriteString(lead)
		if s, ok := v.(string); ok && !utf8.ValidString(s) && failed == nil {
			failed = fmt.Errorf("found %q, expected UTF-8, as JSON needs", s)
		}
		if err := to.Encode(v); err != nil && failed == nil {
			failed = err
		}
		text.Truncate(text.Len() - 1) // the newline
	}
	put(`{"data": {"`+object+`": `, localFile(s.Image))
	put(`, "`+PathKey+`": `, path)
	for _, f := range s.Data {
		if f.Name == object || f.Name == PathKey {
			continue
		}
		put(", ", f.Name)
		put(": ", f.Value)
	}
	text.WriteByte('}')
	if len(s.Boxes) > 0 {
		var ids []string
		var list []rectangle
		for i := range s.Boxes {
			ids, list = append(ids, s.Boxes[i].ID), append(list, s.Boxes[i].newRectangle())
		}
		text.Truncate(text.Len() - 1) // the brace
		put(`, "`+BoxesKey+`": `, strings.Join(ids, " "))
		put(`}, "predictions": `, []struct {
			Version string      `json:"model_version"`
			Result  []rectangle `json:"result"`
		}{{s.Version, list}})
	}
	if p := s.Suggest; p != nil {
		put(`, "predictions": `, []prediction{{p.Version, p.Score, newChoice("suggested", control, p.Label)}})
	}
	if d := s.Decided; d != nil {
		control, value := control, d.Label
		if d.Drop {
			control, value = DropControl, dropChoice
		}
		put(`, "annotations": `, []made{{newChoice(sentID(path, control, value), control, value)}})
	}
	text.WriteByte('}')
	if failed != nil {
		return fmt.Errorf("%.200q: %w", path, failed)
	}
	lead := ",\n"
	if w.tasks == 0 {
		lead = "[\n"
	}
	w.tasks++
	_, _ = w.out.WriteString(lead) // errors are returned by Flush, here and below
	_, _ = w.out.Write(text.Bytes())
	return nil
}

// Close ends the list.
func (w *Writer) Close() error {
	end := "\n]\n"
	if w.tasks == 0 {
		end = "[]\n"
	}
	_, _ = w.out.WriteString(end)
	return w.out.Flush()
}

// Config returns the labelling configuration for tasks with these classes: one choice among them or, for boxes, one for
// each rectangle; and a choice that leaves an image out.
func Config(classes []string, boxes bool) string {
	var out strings.Builder
	fmt.Fprintf(&out, "<View>\n  <Image name=\"%s\" value=\"$%[1]s\"/>\n  ", object)
	element, value := "Choices", "Choice"
	if boxes {
		element, value = "RectangleLabels", "Label"
		fmt.Fprintf(&out, "<RectangleLabels name=\"%s\" toName=\"%s\">\n", control, object)
	} else {
		fmt.Fprintf(&out, "<Header value=\"$given_label\"/>\n  <Choices name=\"%s\" toName=\"%s\" choice=\"single\" "+
			"showInline=\"true\">\n", control, object)
	}
	for _, name := range classes {
		fmt.Fprintf(&out, "    <%s value=\"", value)
		_ = xml.EscapeText(&out, []byte(name)) // cannot fail: a builder
		out.WriteString("\"/>\n")
	}
	fmt.Fprintf(&out, "  </"+element+">\n  <Choices name=\"%s\" toName=\"%s\" choice=\"single\">\n    <Choice "+
		"value=\"%s\"/>\n  </Choices>\n</View>\n", DropControl, object, dropChoice)
	return out.String()
}
