package datasets

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"winnow/datasets/location"
	"winnow/internal/atomicfile"
	"winnow/internal/interrupt"
)

// Decision is a fix for one sample: drop it, or replace its label.
type Decision struct {
	Drop  bool
	Label string // the new given label if Drop is false
}

// Fixed counts what Fix changed.
type Fixed struct {
	Rows       int            // samples written
	Dropped    int            // samples left out
	Relabelled int            // samples that got a different label
	Changed    map[string]int // dropped and relabelled samples by split
}

// Fix copies a manifest, dropping some samples and replacing some labels. d must be what Read returned for source.
// decisions are indexed by position in d.Samples; samples without a decision are copied.
//
// In CSV, TSV, JSON lines and lists without a header, Fix rewrites only the changed rows. In COCO's JSON it changes
// category_id and removes dropped annotations. Any other source, such as a folder, shards or a Label Studio export,
// becomes a CSV manifest.
func Fix(w io.Writer, source location.Source, d *Dataset, decisions map[int]Decision) (Fixed, error) {
	x := &fixer{d: d, decisions: decisions, did: Fixed{Changed: map[string]int{}}}
	err := x.checkDecisions()
	if err == nil {
		err = x.fixSource(w, source)
	}
	if err != nil {
		return Fixed{}, fmt.Errorf("datasets: %s: %w", source, err)
	}
	return x.did, nil
}

// FixTo writes the fixed copy of a source to a file, as [Fix] does, or as a CSV manifest if the file's name ends in
// .csv and the source is no list of lines.
func FixTo(ctx context.Context, to string, source location.Source, d *Dataset,
	decisions map[int]Decision) (did Fixed, err error) {
	form, err := FormOf(source)
	if err != nil {
		return did, err
	}
	err = atomicfile.Write(to, func(w io.Writer) (err error) {
		w = interrupt.NewWriter(ctx, w)
		if strings.EqualFold(filepath.Ext(to), ".csv") && form != CSV && form != PRISM {
			var fixed *Dataset
			if fixed, did, err = Apply(d, decisions); err == nil {
				err = WriteCSV(w, fixed)
			}
			return err
		}
		did, err = Fix(w, source, d, decisions)
		return err
	})
	return did, err
}

// Apply returns d with some samples left out and some labels replaced, as in the copy that Fix writes.
func Apply(d *Dataset, decisions map[int]Decision) (*Dataset, Fixed, error) {
	x := &fixer{d: d, decisions: decisions, did: Fixed{Changed: map[string]int{}}}
	if err := x.checkDecisions(); err != nil {
		return nil, Fixed{}, fmt.Errorf("datasets: %w", err)
	}
	return x.applyDecisions(), x.did, nil
}

// FormOf returns the format that Fix writes for a source: the format of the source, or CSV.
func FormOf(source location.Source) (Format, error) {
	layout, err := LayoutOf(context.Background(), source)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("datasets: %w", err)
	} else if layout != File {
		return CSV, nil
	}
	f, err := source.Open(context.Background())
	if err != nil {
		return "", fmt.Errorf("datasets: %w", err)
	}
	defer f.Close()
	in := decodeText(f, false)
	if _, err = consumeMark(in); err != nil {
		return "", fmt.Errorf("datasets: %s: %w", source, err)
	}
	form := guessFormat(in)
	if form == LabelStudio {
		form = CSV
	}
	return form, nil
}

// fixer writes the fixed copy of a source.
type fixer struct {
	d         *Dataset
	decisions map[int]Decision
	rows      []int // position of the sample read from each row of the source, -1 if the row was left out
	did       Fixed
}

// checkDecisions rejects decisions that cannot be applied, and counts the others.
func (x *fixer) checkDecisions() error {
	for i, what := range x.decisions {
		switch {
		case i < 0 || i >= len(x.d.Samples):
			return fmt.Errorf("found a decision on sample %d, expected 0 to %d", i, len(x.d.Samples)-1)
		case !what.Drop && (what.Label == "" || what.Label != strings.TrimSpace(what.Label) &&
			!slices.Contains(x.d.Classes, what.Label)):
			return fmt.Errorf("%s: found the new label %q, expected a class, or a new name "+
				"that is not empty and has no space at either end", x.d.Samples[i].Path, what.Label)
		}
	}
	for i := range x.d.Samples {
		x.countDecision(i, x.d.Samples[i].Split)
	}
	if x.did.Rows == 0 {
		return fmt.Errorf("the decisions drop all %d samples, expected at least one to stay", x.did.Dropped)
	}
	for _, r := range x.d.Repeats {
		x.countDecision(r.Of, r.Sample.Split)
	}
	return nil
}

func (x *fixer) countDecision(sample int, split string) {
	what, decided := x.decisions[sample]
	if !what.Drop {
		x.did.Rows++
	}
	switch {
	case !decided || !what.Drop && what.Label == x.d.LabelName(x.d.Samples[sample]):
		return
	case what.Drop:
		x.did.Dropped++
	default:
		x.did.Relabelled++
	}
	x.did.Changed[split]++
}

// applyDecisions returns the kept samples with the decided labels.
func (x *fixer) applyDecisions() *Dataset {
	kept := make([]row, 0, len(x.d.Samples))
	for i := range x.d.Samples {
		s := &x.d.Samples[i]
		what, decided := x.decisions[i]
		if !decided {
			what.Label = x.d.LabelName(*s)
		}
		if !what.Drop {
			kept = append(kept, row{path: s.Path, label: what.Label, split: s.Split, truth: x.d.className(s.True),
				extra: s.Extra})
		}
	}
	return buildDataset(kept, x.d.Columns)
}

// writeList writes the fixed samples as a CSV manifest.
func (x *fixer) writeList(w io.Writer) error {
	return WriteCSV(w, x.applyDecisions())
}

func (x *fixer) fixSource(w io.Writer, source location.Source) error {
	if layout, _ := LayoutOf(context.Background(), source); layout != File {
		return x.writeList(w)
	}
	f, err := source.Open(context.Background())
	if err != nil {
		return err
	}
	defer f.Close()
	return x.fixText(w, decodeText(f, x.d.Latin1))
}

// fixText writes the fixed copy of a file in UTF-8.
func (x *fixer) fixText(w io.Writer, r io.Reader) error {
	x.rows = slices.Repeat([]int{-1}, x.d.SourceRows())
	for i := range x.d.Samples {
		x.rows[x.d.Samples[i].Row] = i
	}
	for _, r := range x.d.Repeats {
		x.rows[r.Sample.Row] = r.Of
	}
	in, out := bufio.NewReaderSize(r, 1<<16), bufio.NewWriter(w)
	mark, err := consumeMark(in)
	if err != nil {
		return err
	}
	_, _ = out.Write(mark) // Flush returns the error, here and below
	switch guessFormat(in) {
	case COCO:
		err = x.fixWhole(out, in, x.fixCOCO)
	case LabelStudio:
		err = x.writeList(out)
	case JSONL:
		f := &objectFixer{fixer: x}
		if head, _ := in.Peek(1 << 12); bytes.HasPrefix(bytes.TrimSpace(head), []byte("[")) {
			err = x.fixWhole(out, in, f.fixObjects)
		} else {
			err = x.fixLines(out, in, f.fixObject)
		}
	case PRISM:
		err = x.fixLines(out, in, x.fixListLine)
	case TSV:
		err = x.fixTable(out, in, '\t')
	default:
		err = x.fixTable(out, in, ReadOptions{Names: x.d.Names}.findSeparator(in))
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

// fixWhole fixes a file as a whole. If no decision changes the file, fixWhole copies it unchanged.
func (x *fixer) fixWhole(w io.Writer, r io.Reader, fix func(text []byte) ([]byte, error)) error {
	text, err := io.ReadAll(r)
	if err == nil && !json.Valid(text) {
		err = json.Unmarshal(text, new(any)) // the error gives the position of the fault
	}
	if err == nil && x.did.Dropped+x.did.Relabelled > 0 {
		end := bytes.Clone(text[len(bytes.TrimRight(text, " \t\r\n")):])
		if text, err = fix(text); err == nil {
			text = append(text, end...)
		}
	}
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// fixLines copies a source with one row per line; fix returns nil for a dropped line.
func (x *fixer) fixLines(w io.Writer, in *bufio.Reader, fix func(row int, line []byte) ([]byte, error)) error {
	for n := 0; ; {
		line, err := in.ReadBytes('\n')
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return err
		}
		if body := bytes.TrimRight(line, "\r\n"); len(bytes.TrimSpace(body)) > 0 {
			fixed, err := fix(n, body)
			if err != nil {
				return err
			}
			if n++; fixed == nil {
				line = nil
			} else {
				line = slices.Concat(fixed, line[len(body):])
			}
		}
		if _, err := w.Write(line); err != nil || end {
			return errors.Join(err, x.checkRows(n))
		}
	}
}

func (x *fixer) checkRows(n int) error {
	if n < len(x.rows) {
		return fmt.Errorf("found %d rows, expected at least %d: the file has changed since it was read", n, len(x.rows))
	}
	return nil
}

// decideRow returns the decision about a row of the source with this label. It returns the zero Decision (no change)
// if the row was left out (-1) or has no decision.
func (x *fixer) decideRow(row int, label string) (what Decision, err error) {
	if row >= len(x.rows) || x.rows[row] < 0 {
		return what, nil
	}
	sample := x.rows[row]
	given := x.d.LabelName(x.d.Samples[sample])
	if list, _ := listLabels(label); len(list) == 1 {
		label = list[0]
	}
	if label != given {
		return what, fmt.Errorf("row %d has the label %q, expected %q: the file has changed since it was read", row+1,
			label, given)
	}
	if what = x.decisions[sample]; what.Label == given {
		what.Label = ""
	}
	return what, nil
}

// fixListLine fixes one line of a list without a header.
func (x *fixer) fixListLine(row int, line []byte) ([]byte, error) {
	p, was, _ := listLine(string(line))
	what, err := x.decideRow(row, was)
	if err != nil || what.Drop {
		return nil, err
	}
	if what.Label == "" {
		return line, nil
	}
	rest := line[:bytes.LastIndex(line, []byte(was))]
	_, number := strconv.Atoi(what.Label)
	if q, label, _ := listLine(string(rest) + what.Label); q != p || label != what.Label ||
		number != nil && !isImageName(p) {
		return nil, fmt.Errorf("%s: the new label %q cannot be written in a list without a header: give the file a "+
			"header path,label", p, what.Label)
	}
	return append(bytes.Clone(rest), what.Label...), nil
}

// objectFixer fixes JSON objects.
type objectFixer struct {
	*fixer
	label string // the key of the labels; set after the first object
}

// fixObject fixes one object of JSON lines or of a JSON list.
func (f *objectFixer) fixObject(row int, text []byte) ([]byte, error) {
	if row == 0 {
		t := newOthers(reading{ReadOptions: ReadOptions{Names: f.d.Names}}, "")
		if _, _, err := t.parseObjectRow(text, 1, len(text)); err != nil {
			return nil, err
		}
		f.label = t.keys[labelColumn]
	}
	was, err := f.readLabel(text)
	if err != nil {
		return nil, err
	}
	what, err := f.decideRow(row, trimLineEnd(was))
	if err != nil || what.Drop {
		return nil, err
	}
	if what.Label != "" {
		text = editMember(text, f.label, func(was json.RawMessage) json.RawMessage {
			if n, err := strconv.Atoi(what.Label); was[0] != '"' && err == nil && strconv.Itoa(n) == what.Label {
				return json.RawMessage(what.Label)
			}
			return quoteJSON(what.Label)
		})
	}
	return text, nil
}

// readLabel returns the label in a JSON object.
func (f *objectFixer) readLabel(object []byte) (string, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		return "", err
	}
	return plainJSON(members[f.label])
}

// fixObjects fixes a JSON list of objects.
func (f *objectFixer) fixObjects(text []byte) ([]byte, error) {
	n := 0
	return f.fixElements(text, &n, f.fixObject)
}

// fixElements fixes the elements of a JSON list and stores their number in n.
func (x *fixer) fixElements(list json.RawMessage, n *int,
	fix func(row int, raw []byte) ([]byte, error)) (fixed []byte, err error) {
	fixed = editElements(list, func(row int, raw json.RawMessage) json.RawMessage {
		*n = row + 1
		if err == nil {
			raw, err = fix(row, raw)
		}
		return raw
	})
	return fixed, errors.Join(err, x.checkRows(*n))
}

// fixCOCO fixes the annotations of COCO's JSON.
func (x *fixer) fixCOCO(text []byte) (fixed []byte, err error) {
	var all struct{ Categories categoryList }
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	labels, ids, err := all.Categories.nameCategories()
	if err != nil {
		return nil, err
	}
	fixed = editMember(text, cocoAnnotations, func(list json.RawMessage) json.RawMessage {
		n := 0
		list, err = x.fixElements(list, &n, func(row int, raw []byte) ([]byte, error) {
			var a cocoAnnotation
			_ = json.Unmarshal(raw, &a) // a broken annotation was left out and has no decision
			what, err := x.decideRow(row, labels[a.Category])
			if err != nil || what.Drop {
				return nil, err
			}
			if what.Label == "" {
				return raw, nil
			}
			id, known := ids[what.Label]
			if !known {
				return nil, fmt.Errorf("annotation %s: the new label %q is not among the categories: add a category "+
					"of this name to the file", a.ID, what.Label)
			}
			return editMember(raw, "category_id", func(was json.RawMessage) json.RawMessage {
				if was[0] == '"' {
					return quoteJSON(string(id))
				}
				return json.RawMessage(id)
			}), nil
		})
		return list
	})
	return fixed, err
}

// fixTable copies a table: encoding/csv writes the changed rows, all others are copied byte by byte.
func (x *fixer) fixTable(w io.Writer, r io.Reader, by rune) error {
	var passed bytes.Buffer // bytes that the parser has read and that are not copied yet
	in := newCells(io.TeeReader(r, &passed), by)
	at, label := int64(0), -1
	for n := -1; ; n++ { // the header is row -1
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			_, _ = w.Write(passed.Bytes()) // blank lines
			return x.checkRows(n)
		}
		if err != nil {
			return err
		}
		text := passed.Next(int(in.InputOffset() - at))
		at = in.InputOffset()
		row := bytes.TrimRight(text, "\r\n")
		switch {
		case n < 0:
			in.TrimLeadingSpace = hasSpaces(record, by)
			if label, err = x.findLabelColumn(record); err != nil {
				return err
			}
		case isEmptyRecord(record):
			n--
			_, _ = w.Write(text)
			continue
		default:
			what, err := x.decideRow(n, trimLineEnd(record[label]))
			if err != nil {
				return err
			}
			if what.Drop {
				continue
			}
			if what.Label != "" {
				record[label] = what.Label
				blank := row[:len(row)-len(bytes.TrimLeft(row, "\r\n"))] // blank lines before the row
				row = slices.Concat(blank, []byte(joinCells(record, by)))
			}
		}
		_, _ = w.Write(row)
		if _, err := w.Write(text[len(bytes.TrimRight(text, "\r\n")):]); err != nil {
			return err
		}
	}
}

// findLabelColumn returns the position of the label column in a header.
func (x *fixer) findLabelColumn(header []string) (int, error) {
	how := reading{ReadOptions: ReadOptions{Names: x.d.Names}}
	places, _, _, err := how.readTableHeader("", header)
	if err != nil && x.d.Samples[0].Path == "0" {
		how.Numbered = true
		places, _, _, err = how.readTableHeader("", header)
	}
	return places[labelColumn], err
}
