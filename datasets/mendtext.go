package datasets

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"winnow/internal/jsontext"
)

// writeCopy reads the source again and writes the copy. Its errors begin with ":LINE: " or ": ".
func (m *mender) writeCopy(w io.Writer, r io.Reader) (Mended, error) {
	err := m.copySource(w, r)
	if err == nil && m.next != len(m.d.Samples) {
		err = fmt.Errorf(": found %d samples, %d were read before: the file has changed", m.next, len(m.d.Samples))
	}
	return m.did, err
}

// copySource copies one file, with what may stand before its first row. Its errors begin as those of run.
func (m *mender) copySource(w io.Writer, r io.Reader) error {
	in := bufio.NewReaderSize(r, 1<<16)
	lead, err := consumeLead(in)
	if err != nil {
		return fmt.Errorf(": %w", err)
	}
	m.out = bufio.NewWriter(w)
	_, _ = m.out.Write(lead) // nothing is written before the first rows were read
	if err := m.copyAfterMark(in); err != nil {
		return err
	}
	if err := m.out.Flush(); err != nil {
		return fmt.Errorf(": %w", err)
	}
	return nil
}

// copyAfterMark copies what follows a mark. Errors of writing are returned by Flush.
func (m *mender) copyAfterMark(in *bufio.Reader) (err error) {
	m.line = 1
	switch guessFormat(in) {
	case COCO:
		err = m.writeEdited(in, m.editCOCO)
	case LabelStudio:
		err = fmt.Errorf(": labels are not carried back into exports of Label Studio")
	case FiftyOne:
		err = m.writeEdited(in, func(text []byte) ([]byte, error) {
			return fiftyOne.parse(text, &subject{}, func(p *photo) ([]Decision, error) {
				return m.decisionsOn(p, p.file)
			})
		})
	case JSONL:
		if head, _ := in.Peek(1 << 12); bytes.HasPrefix(bytes.TrimSpace(head), []byte("[")) {
			err = m.writeEdited(in, m.editObjects)
		} else {
			err = m.copyLines(in, m.editObject)
		}
	case PRISM:
		err = m.copyLines(in, m.editPRISMLine)
	case TSV:
		m.comma = '\t'
		err = m.copyCSV(in)
	default:
		m.comma = ReadOptions{Names: m.d.Names}.findSeparator(in)
		err = m.copyCSV(in)
	}
	return err
}

// writeEdited writes a file that is edited as a whole.
func (m *mender) writeEdited(in io.Reader, edit func(text []byte) ([]byte, error)) error {
	text, err := io.ReadAll(in)
	if err == nil {
		text, err = m.editFile(text, edit)
	}
	if err != nil {
		return fmt.Errorf(": %w", err)
	}
	_, _ = m.out.Write(text) // Flush returns the error
	return nil
}

// editFile returns an edited file, or the file as it is if no decision changes it.
func (m *mender) editFile(text []byte, edit func(text []byte) ([]byte, error)) ([]byte, error) {
	before := m.did.Dropped + m.did.Relabelled
	after, err := edit(text)
	if err == nil && m.did.Dropped+m.did.Relabelled == before && len(m.more) == 0 {
		return text, nil
	}
	return after, err
}

// consumeMark consumes a byte order mark.
func consumeMark(in *bufio.Reader) ([]byte, error) {
	begin, err := in.Peek(3)
	if string(begin) != "\ufeff" {
		if errors.Is(err, io.EOF) {
			err = nil // a short file
		}
		return nil, err
	}
	_, _ = in.Discard(3) // just peeked
	return []byte("\ufeff"), nil
}

// copyLines copies a source with one sample per line.
func (m *mender) copyLines(in *bufio.Reader, sample func(text []byte) ([]byte, error)) error {
	for ; ; m.line++ {
		text, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf(": %w", err)
		}
		end := errors.Is(err, io.EOF)
		body := bytes.TrimRight(text, "\r\n")
		if len(bytes.TrimSpace(body)) > 0 {
			mended, err := sample(body)
			if err != nil {
				return err
			}
			if mended == nil {
				text = nil
			} else {
				text = append(mended, text[len(body):]...)
			}
		}
		if _, _ = m.out.Write(text); end {
			return nil
		}
	}
}

// editPRISMLine mends a line of a list without a header; nil: it is dropped.
func (m *mender) editPRISMLine(text []byte) ([]byte, error) {
	p, was, ok := listLine(string(text))
	if !ok {
		return nil, fmt.Errorf(":%d: found %.200q, expected path,label or path label", m.line, text)
	}
	what, err := m.decideNext(p, was)
	if err != nil || what.Drop {
		return nil, err
	}
	if what.Label == was {
		return text, nil
	}
	rest := text[:bytes.LastIndex(text, []byte(was))]
	if q, label, _ := listLine(string(rest) + what.Label); q != p || label != what.Label {
		return nil, fmt.Errorf(":%d: %s: the new label %q cannot stand in a list without a header: give the file a "+
			"header "+
			"path,label", m.line, p, what.Label)
	}
	if _, err := strconv.Atoi(what.Label); err != nil && !isImageName(p) {
		return nil, fmt.Errorf(":%d: %s: the new label %q is not an integer, as a list without a header needs: "+
			"give the file a header path,label", m.line, p, what.Label)
	}
	return append(bytes.Clone(rest), what.Label...), nil
}

// editObject mends an object of JSON lines or of a list; nil: it is dropped.
func (m *mender) editObject(text []byte) ([]byte, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, fmt.Errorf(":%d: %w", m.line, err)
	}
	if m.keys[labelColumn] == "" {
		t := newOthers(reading{ReadOptions: ReadOptions{Names: m.d.Names}, from: m.table.from}, "")
		if _, _, err := t.parseObjectRow(text, 1, len(text)); err != nil {
			return nil, fmt.Errorf(":%d: %w", m.line, err)
		}
		m.keys, m.boxes = t.keys, t.boxes
	}
	p, err := jsontext.Plain(object[m.keys[pathColumn]])
	was, wrong := jsontext.Plain(object[m.keys[labelColumn]])
	if err := cmp.Or(err, wrong); err != nil {
		return nil, fmt.Errorf(":%d: %w", m.line, err)
	}
	what, sample, err := m.rowDecision(p, trimLineEnd(was))
	if err != nil || what.Drop {
		return nil, err
	}
	if what.Label != trimLineEnd(was) {
		text = jsontext.EditMember(text, m.keys[labelColumn], func(was json.RawMessage) json.RawMessage {
			if n, err := strconv.Atoi(what.Label); was[0] != '"' && err == nil && strconv.Itoa(n) == what.Label {
				return json.RawMessage(what.Label)
			}
			return jsontext.Quote(what.Label)
		})
	}
	for _, c := range m.more {
		cell := ""
		if sample >= 0 {
			cell = c.Cells[sample]
		}
		text = jsontext.AddMember(text, c.Name, jsontext.Quote(cell))
	}
	return text, nil
}

// editObjects mends a list of objects.
func (m *mender) editObjects(text []byte) ([]byte, error) {
	if err := jsontext.Check(text); err != nil {
		return nil, err
	}
	var wrong error
	edited := jsontext.EditElements(text, func(_ int, raw json.RawMessage) json.RawMessage {
		if wrong != nil {
			return raw
		}
		raw, wrong = m.editObject(raw)
		return raw
	})
	return jsontext.Like(edited, text), wrong
}

// rowDecision returns the decision on a row, with the label as the file writes it, and the position of its sample. A
// row that was not read as a sample stays, and its position is -1.
func (m *mender) rowDecision(name, was string) (what Decision, sample int, err error) {
	read, separated := m.d.Separated[was]
	if !separated {
		read = was
	}
	if sample = m.next; separated && read == "" {
		if m.boxes != nil {
			m.boxes.rows++
		}
		return Decision{Label: was}, -1, nil
	}
	if m.boxes != nil {
		what, err = m.decideBox(name, read)
	} else {
		what, err = m.decideNext(name, read)
	}
	if m.next == sample {
		sample = -1
	}
	if !what.Drop && what.Label == read {
		what.Label = was
	}
	return what, sample, err
}

// copyCSV copies a manifest with a header: the parser locates records and labels, whose bytes are copied.
func (m *mender) copyCSV(raw io.Reader) error {
	var passed bytes.Buffer // what the parser has read and is not copied yet
	in := newCells(io.TeeReader(raw, &passed), m.comma)
	first := false
	at, path, label := int64(0), -1, -1 // path stays -1 in a numbered table
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			_, _ = m.out.Write(passed.Bytes()) // blank lines
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w", inTable("", err))
		}
		text := passed.Next(int(in.InputOffset() - at))
		at = in.InputOffset()
		if label < 0 {
			how := reading{ReadOptions: ReadOptions{Names: m.d.Names}}
			places, _, _, err := how.readTableHeader("", record)
			if err != nil && m.d.Samples[0].Path == "0" {
				how.Numbered = true
				places, _, _, err = how.readTableHeader("", record)
			}
			if err != nil {
				if m.hot = how.oneHot(record); m.hot == nil {
					return fmt.Errorf(":1: %w", err)
				}
				places, m.header = m.hot.at, slices.Clone(record) // the reader uses it again
				places[labelColumn] = m.hot.classes[0]
			}
			path, label = places[pathColumn], places[labelColumn]
			if m.hot == nil {
				if m.boxes, err = m.table.boxColumns(record, places); err != nil {
					return fmt.Errorf(":1: %w", err)
				}
				m.header = slices.Clone(record)
			}
			m.width = len(record)
			row := bytes.TrimRight(text, "\r\n")
			_, _ = m.out.Write(m.extendRow(row, len(record), func(c Column) string { return c.Name }))
			_, _ = m.out.Write(text[len(row):])
			first = true
			m.line += bytes.Count(text, []byte("\n"))
			continue
		}
		if !slices.ContainsFunc(record, func(cell string) bool { return cell != "" }) && len(record) > 1 {
			_, _ = m.out.Write(text)
			continue
		}
		if first {
			if first = false; m.boxes != nil {
				if m.boxes, err = m.boxes.settleColumns(m.header, record); err != nil {
					return fmt.Errorf(":%d: %w", m.line, err)
				}
			}
		}
		if err := m.editRecord(record, path, label, text); err != nil {
			return err
		}
		m.line += bytes.Count(text, []byte("\n"))
	}
}

// editRecord mends one record; text is its bytes. A row that changes is written by encoding/csv, all others as they
// are.
func (m *mender) editRecord(record []string, path, label int, text []byte) error {
	if len(record) <= max(path, label) {
		return fmt.Errorf(":%d: %d fields, expected more", m.line, len(record))
	}
	was, name := trimLineEnd(record[label]), strconv.Itoa(m.next)
	if path >= 0 {
		name = trimLineEnd(record[path])
	}
	var err error
	if m.hot != nil {
		was, err = m.hot.labelOfOne(m.header, record)
		if errors.Is(err, errSeveral) {
			m.writeRecord(record, false, text, -1)
			return nil
		}
	}
	what, sample := Decision{}, 0
	if err == nil {
		what, sample, err = m.rowDecision(name, was)
	}
	changed := what.Label != was
	switch {
	case err != nil:
		return err
	case what.Drop:
		return nil
	case changed && m.hot != nil:
		record = slices.Clone(record)
		if err := m.hot.moveOne(m.header, record, was, what.Label); err != nil {
			return fmt.Errorf(":%d: %s: %w", m.line, name, err)
		}
	case changed:
		record = slices.Clone(record)
		record[label] = what.Label
	}
	m.writeRecord(record, changed, text, sample)
	return nil
}

// writeRecord writes a row with the cells that are added, its text if that has not changed otherwise. sample is the
// row's, -1 if it is none.
func (m *mender) writeRecord(record []string, changed bool, text []byte, sample int) {
	row := bytes.TrimRight(text, "\r\n")
	blank := row[:len(row)-len(bytes.TrimLeft(row, "\r\n"))] // lines before it
	if changed {
		cells := make([]string, len(record))
		for i, cell := range record {
			cells[i] = quoteField(cell, m.comma)
		}
		row = slices.Concat(blank, []byte(strings.Join(cells, string(m.comma))))
	}
	_, _ = m.out.Write(m.extendRow(row, len(record), func(c Column) string { return c.Cells[sample] }))
	_, _ = m.out.Write(text[len(bytes.TrimRight(text, "\r\n")):])
}

// extendRow returns a row of n cells, without its end, with the cells of the columns that are added.
func (m *mender) extendRow(row []byte, n int, cell func(Column) string) []byte {
	if len(m.more) == 0 {
		return row
	}
	out := slices.Clone(row)
	for range m.width - n { // a row may be shorter than the header
		out = append(out, string(m.comma)...)
	}
	for _, c := range m.more {
		out = append(append(out, string(m.comma)...), quoteField(cell(c), m.comma)...)
	}
	return out
}

// decideBox returns the decision on a row of a table of boxes, with the label as the table writes it. A row that was
// not read as a sample stays.
func (m *mender) decideBox(name, was string) (what Decision, err error) {
	m.boxes.rows++
	_, _, cropped := CutCrop(name)
	if !cropped && (m.next >= len(m.d.Samples) || !isRow(m.d.Samples[m.next].Path, m.boxes.rows)) {
		return Decision{Label: was}, nil
	}
	shown, sample := was, name
	if m.boxes.names != nil {
		shown = m.boxes.names.translateToShown(was)
	}
	if !cropped {
		sample = m.d.Samples[m.next].Path
		file, _, _ := CutCrop(sample)
		if !samePicture(name, file) {
			sample = name // decide says that it has changed
		}
	}
	if what, err = m.decideNext(sample, shown); err != nil || what.Drop {
		return what, err
	}
	if what.Label == shown {
		what.Label = was
	} else if m.boxes.names != nil {
		if what.Label, err = m.boxes.names.translateToFile(what.Label); err != nil {
			err = fmt.Errorf(":%d: %w", m.line, err)
		}
	}
	return what, err
}
