package datasets

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/text/transform"

	"winnow/datasets/location"
)

// Decision says what happens to a sample: it is left out, or gets another label.
type Decision struct {
	Drop  bool
	Label string // the new given label, if it is not dropped
}

// Mended counts what Mend changed.
type Mended struct {
	Rows       int            // samples written
	Dropped    int            // samples left out
	Relabelled int            // samples that got a different label
	Changed    map[string]int // dropped and relabelled samples by split
}

// Mend copies a manifest, leaving out some samples and replacing some labels. d is what Read returned for source,
// with paths as they are there or with a prefix stripped. decisions are indexed by position in d.Samples; samples
// without a decision are copied.
//
// The copy keeps the form of the source. CSV, TSV, JSON lines and PRISM's lists are copied byte by byte, with their
// header, other columns, quotes and line ends, except for the dropped rows and replaced labels; in JSON a label
// that was a number remains one if possible. In COCO's JSON only values of category_id change and annotations are
// left out; their images stay. In FiftyOne's files and in tables of boxes only labels change;
// in a table with a column for each class the 1 moves. A folder of images ([MendFolder] mends the files of boxes in
// one), shards and an export of Label Studio cannot be copied: they become a CSV manifest of what was read.
//
// more are columns to add: in CSV, TSV and JSON lines each row gets its cell at its end, as do manifests that are
// written anew. Other forms have no place for them.
func Mend(w io.Writer, source location.Source, d *Dataset, decisions map[int]Decision, more ...Column) (
	did Mended, err error) {
	d, decisions, more = d.withRepeats(decisions, more)
	d = d.With(more...)
	m := &mender{d: d, decisions: decisions, until: len(d.Samples), did: Mended{Changed: map[string]int{}},
		column: slices.Index(d.Columns, objectColumn), table: reading{from: source}, more: more}
	if err := m.checkDecisions(); err != nil {
		return Mended{}, fmt.Errorf("datasets: %s: %w", source, err)
	}
	form, err := FormOf(source)
	if err != nil {
		return Mended{}, err
	}
	if isTree(source) {
		mended, did := m.applyDecisions()
		return did, WriteCSV(w, mended)
	}
	f, err := source.Open(context.Background())
	if err != nil {
		return Mended{}, fmt.Errorf("datasets: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Mended{}, fmt.Errorf("datasets: %w", err)
	}
	var whole io.ReadSeeker = io.NewSectionReader(f, 0, info.Size())
	if d.Encoding != "" {
		e, err := encodingOf(d.Encoding)
		if err != nil {
			return Mended{}, fmt.Errorf("datasets: %s: %w", source, err)
		}
		text, err := io.ReadAll(transform.NewReader(whole, e.NewDecoder()))
		if err != nil {
			return Mended{}, fmt.Errorf("datasets: %s: %w", source, err)
		}
		encoded := transform.NewWriter(w, e.NewEncoder())
		defer func() {
			if err == nil {
				err = encoded.Close()
			}
		}()
		whole, w = bytes.NewReader(text), encoded
	}
	if form == LabelStudio {
		err = errors.New("labels are not carried back into exports of Label Studio: import the list as tasks")
	}
	if err != nil {
		return Mended{}, fmt.Errorf("datasets: %s: %w", source, err)
	}
	if did, err = m.writeCopy(w, whole); err != nil {
		return Mended{}, fmt.Errorf("datasets: %s%w", source, err)
	}
	return did, nil
}

// Apply returns d with some samples left out and some labels replaced, as in the copy that Mend writes.
func Apply(d *Dataset, decisions map[int]Decision) (*Dataset, Mended, error) {
	m := &mender{d: d, decisions: decisions, did: Mended{Changed: map[string]int{}}}
	if err := m.checkDecisions(); err != nil {
		return nil, Mended{}, fmt.Errorf("datasets: %w", err)
	}
	mended, did := m.applyDecisions()
	return mended, did, nil
}

// FormOf returns the format of a source and of its mended copy: CSV for a folder, zipped or not, and for shards.
// The copy of a LabelStudio source is CSV.
func FormOf(source location.Source) (Format, error) {
	if isTree(source) {
		return CSV, nil
	}
	f, err := source.Open(context.Background())
	if err != nil {
		return "", fmt.Errorf("datasets: %w", err)
	}
	defer f.Close()
	in, _, err := ReadOptions{}.decodeText(bufio.NewReaderSize(f, 1<<12)) // as much as guess looks at
	if err == nil {
		_, err = consumeLead(in)
	}
	if err != nil {
		return "", fmt.Errorf("datasets: %s: %w", source, err)
	}
	return guessFormat(in), nil
}

// mender walks through a source sample by sample.
type mender struct {
	d         *Dataset
	decisions map[int]Decision
	out       *bufio.Writer
	next      int // index of the next sample
	until     int // the samples of the file end before this
	line      int // the line the reader is at
	comma     rune
	keys      [len(ownNames)]string // of JSON lines, once the first is read
	labels    map[ident]string      // of COCO's categories
	ids       map[string]ident
	column    int       // of the numbers of boxes among Columns
	seen      boxReader // counts the boxes of each picture
	table     reading   // where a table is
	more      []Column  // to add to a table
	width     int       // cells of its header
	boxes     *boxColumns
	hot       *oneHot  // of a table with a column for each class
	header    []string // of such a table
	did       Mended
}

// checkDecisions rejects decisions that cannot be carried out.
func (m *mender) checkDecisions() error {
	dropped := 0
	for i, what := range m.decisions {
		switch {
		case i < 0 || i >= len(m.d.Samples):
			return fmt.Errorf("found a decision on sample %d, expected 0 to %d", i, len(m.d.Samples)-1)
		case what.Drop:
			dropped++
		case what.Label == "" || what.Label != strings.TrimSpace(what.Label) && !slices.Contains(m.d.Classes,
			what.Label):
			return fmt.Errorf("%s: found the new label %q, expected a class, or a new name "+
				"that is not empty and has no space at either end", m.d.Samples[i].Path, what.Label)
		}
	}
	if dropped == len(m.d.Samples) {
		return fmt.Errorf("all %d samples are to be dropped, expected some to stay", dropped)
	}
	return nil
}

// decideNext counts the next sample and returns its decision; path and label are those in the source.
func (m *mender) decideNext(path, label string) (Decision, error) {
	i := m.next
	m.next++
	if i >= len(m.d.Samples) || m.d.className(m.d.Samples[i].Label) != label ||
		!strings.HasSuffix(path, m.d.Samples[i].Path) && !sameFile(path, m.d.Samples[i].Path) {
		return Decision{}, fmt.Errorf(":%d: %q with label %q is not what was read before: the file has changed",
			m.line, path, label)
	}
	return m.carryDecision(i, label), nil
}

// carryDecision returns and counts the decision on a sample that has a label.
func (m *mender) carryDecision(i int, label string) Decision {
	what, decided := m.decisions[i]
	if !decided || !what.Drop && what.Label == label {
		m.did.Rows++
		return Decision{Label: label}
	}
	m.did.Changed[m.d.Samples[i].Split]++
	if what.Drop {
		m.did.Dropped++
	} else {
		m.did.Rows++
		m.did.Relabelled++
	}
	return what
}

func sameFile(path, clean string) bool {
	p, err := cleanPath(path, "")
	return err == nil && (p == clean || strings.ReplaceAll(p, `\`, "/") == clean)
}

// applyDecisions returns the remaining samples with the decided labels.
func (m *mender) applyDecisions() (*Dataset, Mended) {
	kept := make([]row, 0, len(m.d.Samples))
	for i := range m.d.Samples {
		s := &m.d.Samples[i]
		if what := m.carryDecision(i, m.d.className(s.Label)); !what.Drop {
			kept = append(kept, row{path: s.Path, label: what.Label, split: s.Split, truth: m.d.className(s.True),
				extra: s.Extra})
		}
	}
	return buildDataset(kept, m.d.Columns), m.did
}
