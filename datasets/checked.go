package datasets

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// Checked is what people decided about the label of an image.
type Checked struct {
	Given string `json:"given"`           // the label that they judged
	Right bool   `json:"right"`           // it is right
	Label string `json:"label,omitempty"` // the right label if it is wrong; "": the image is of no class
	// Elsewhere says that the image was chosen by another program, so that its label says nothing about other images.
	Elsewhere bool `json:"elsewhere,omitempty"`
}

// Checks are decisions about the labels of images, by path.
type Checks struct {
	File string `json:"file"`
	Open int    `json:"open"` // images without an outcome: reviewers were unsure, or disagree
	// Changed counts the images whose picture is another one than was decided about.
	Changed int                `json:"picture_changed,omitempty"`
	By      map[string]Checked `json:"by_path"`
	// Log are the answers of all reviewers in their order, which tell how the images were chosen; nil: unknown.
	Log []Answer `json:"-"`
}

// Answer is what a reviewer said about an image at a time.
type Answer struct {
	Path, Reviewer string
	Checked
	Sure     bool   // Right or not; else the reviewer was unsure, or took the answer back
	Change   int64  // rises with each answer or batch of answers
	Question []byte // why the image was shown, as the review stored it; nil: unknown
}

// Sum returns the sha256 of the decisions, whatever file they are in.
func (c *Checks) Sum() string {
	h := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(c.By)) {
		k := c.By[path]
		fmt.Fprintf(h, "%q %q %t %q\n", path, k.Given, k.Right, k.Label)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Matched are decisions about the samples of one dataset.
type Matched struct {
	At    map[int]Checked // by position
	Stale int             // samples whose label changed since it was judged, so that the decision does not count
	Gone  int             // decided images that the dataset does not have
}

// Match finds the samples that the decisions are about. If a sample's label has changed since, as in a mended manifest,
// a right label must be judged again, and a wrong one is right if it is now the one that people chose. It refuses
// decisions that are mostly about other images.
func (c *Checks) Match(d *Dataset) (Matched, error) {
	m := Matched{At: map[int]Checked{}}
	rows := map[string]int{} // of each decided path
	for i := range d.Samples {
		if path := d.Samples[i].Path; c.hasCheck(path) {
			rows[path]++
		}
	}
	for i := range d.Samples {
		s := &d.Samples[i]
		k, ok := c.By[s.Path]
		if !ok {
			continue
		}
		switch now := d.LabelName(*s); {
		case now == k.Given:
			m.At[i] = k
		case !k.Right && k.Label != "" && now == k.Label:
			m.At[i] = Checked{Given: now, Right: true, Elsewhere: k.Elsewhere}
		case k.Right, rows[s.Path] > 1: // of several labels of an image, only the judged one was decided
			m.Stale++
		default:
			k.Given = now
			m.At[i] = k
		}
	}
	example := ""
	for path, k := range c.By {
		// a mended manifest is without the images of no class
		if rows[path] == 0 && (k.Right || k.Label != "") {
			if m.Gone++; example == "" || path < example {
				example = path
			}
		}
	}
	if m.Gone > len(rows) {
		return m, fmt.Errorf("%s: holds decisions about %d images of which %d are not among those given, such as %q: "+
			"it is about other images; name another file of decisions", c.File, m.Gone+len(rows), m.Gone, example)
	}
	return m, nil
}

func (c *Checks) hasCheck(path string) bool { _, ok := c.By[path]; return ok }

// Wrong counts the samples with a wrong label, and how many of them are of no class.
func (m *Matched) Wrong() (wrong, none int) {
	for _, k := range m.At {
		if !k.Right {
			wrong++
			if k.Label == "" {
				none++
			}
		}
	}
	return wrong, none
}

// Relabelled returns d with the decided labels. Samples of no class have no label. d itself stays as it is.
func (m *Matched) Relabelled(d *Dataset) *Dataset {
	made := *d
	made.Samples = slices.Clone(d.Samples)
	classes := slices.Clone(d.Classes)
	for _, k := range m.At {
		if k.Label != "" && !k.Right && !slices.Contains(classes, k.Label) {
			classes = append(classes, k.Label)
		}
	}
	sortClasses(classes)
	id := make(map[string]int, len(classes))
	for i, name := range classes {
		id[name] = i
	}
	moved := func(label int) int {
		if label == Unlabelled {
			return Unlabelled
		}
		return id[d.Classes[label]]
	}
	made.Classes = classes
	for i := range made.Samples {
		s := &made.Samples[i]
		s.Label, s.True = moved(s.Label), moved(s.True)
		if k, ok := m.At[i]; ok && !k.Right {
			if s.Label = Unlabelled; k.Label != "" {
				s.Label = id[k.Label]
			}
		}
	}
	return &made
}

// Decisions returns what mending does with the wrong labels: it replaces them, and leaves images of no class out.
func (m *Matched) Decisions() map[int]Decision {
	do := map[int]Decision{}
	for i, k := range m.At {
		if !k.Right {
			do[i] = Decision{Drop: k.Label == "", Label: k.Label}
		}
	}
	return do
}
