package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"winnow/datasets"
	"winnow/internal/hint"
	"winnow/internal/text"
)

// Decisions counts the decisions about labels that a run uses. [DecisionsFile] holds the decisions themselves.
type Decisions struct {
	File       string `json:"file"`                      // where they were read from
	SHA256     string `json:"sha256"`                    // checksum of the decisions, not of the file
	Right      int    `json:"right"`                     // images whose given label is right
	Relabelled int    `json:"relabelled"`                // images with another label
	None       int    `json:"no_class"`                  // images of no class, which stay without a label
	Stale      int    `json:"label_changed"`             // not used: the given label changed since the decision
	Gone       int    `json:"gone"`                      // not used: the manifest does not have the image
	Changed    int    `json:"picture_changed,omitempty"` // not used: the image file changed since the decision
	Open       int    `json:"open"`                      // not used: reviewers were unsure or disagree
}

// String returns the numbers of decisions as text.
func (d Decisions) String() string {
	said := fmt.Sprintf("%s: %s right, %d replaced, %d images of no class stay without a label", d.File,
		text.Plural(d.Right, "checked label"), d.Relabelled, d.None)
	if d.Stale > 0 {
		said += fmt.Sprintf("; %d not used, as the label changed since", d.Stale)
	}
	if d.Changed > 0 {
		said += fmt.Sprintf("; %d not used, as the image changed since", d.Changed)
	}
	if d.Gone > 0 {
		said += fmt.Sprintf("; %d about images that the manifest does not have", d.Gone)
	}
	return said
}

// Decide applies decisions to a manifest. It returns the changed manifest, the matched decisions and their numbers.
func Decide(c *datasets.Checks, d *datasets.Dataset) (*datasets.Dataset, datasets.Matched, Decisions, error) {
	m, err := c.Match(d)
	if err != nil {
		return nil, m, Decisions{}, err
	}
	wrong, none := m.Wrong()
	return m.Relabelled(d), m, Decisions{File: c.File, SHA256: c.Sum(), Right: len(m.At) - wrong,
		Relabelled: wrong - none, None: none, Stale: m.Stale, Gone: m.Gone, Open: c.Open, Changed: c.Changed}, nil
}

// WriteDecisions stores the decisions that a run uses.
func WriteDecisions(dir string, c *datasets.Checks) error { return writeJSON(dir, DecisionsFile, c) }

// ReadDecisions returns the decisions that a run uses, after comparing them with their checksum in run.json; nil if the
// run uses none.
func ReadDecisions(dir string) (*datasets.Checks, error) {
	facts, err := ReadFacts(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && facts.Decisions == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c := new(datasets.Checks)
	if err := readJSON(dir, DecisionsFile, c); err != nil {
		return nil, hint.With(fmt.Errorf("train: %w", err), "restore it: the run used these decisions about labels")
	}
	if sum := c.Sum(); sum != facts.Decisions.SHA256 {
		return nil, refuseChangedFile(filepath.Join(dir, DecisionsFile), sum, FactsFile, facts.Decisions.SHA256)
	}
	return c, nil
}
