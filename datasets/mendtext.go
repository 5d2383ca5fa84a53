package datasets

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"winnow/internal/jsontext"
)

// run reads the source again and writes the copy. Its errors begin with ":LINE: " or ": ".
func (m *mender) run(w io.Writer, r io.Reader) (Mended, error) {
	err := m.file(w, r)
	if err == nil && m.next != len(m.d.Samples) {
		err = fmt.Errorf(": found %d samples, %d were read before: the file has changed", m.next, len(m.d.Samples))
	}
	return m.did, err
}

// file copies one file, with what may stand before its first row. Its errors begin as those of run.
func (m *mender) file(w io.Writer, r io.Reader) error {
	in := bufio.NewReaderSize(r, 1<<16)
	lead, err := begin(in)
	if err != nil {
		return fmt.Errorf(": %w", err)
	}
	if endsInCR(in) {
		in, w = bufio.NewReaderSize(fromCR{in}, 1<<16), toCR{w}
	}
	m.out = bufio.NewWriter(w)
	_, _ = m.out.Write(lead) // nothing is written before the first rows were read
	if err := m.copy(in); err != nil {
		return err
	}
	if err := m.out.Flush(); err != nil {
		return fmt.Errorf(": %w", err)
	}
	return nil
}

// copy copies what follows a mark. Errors of writing are returned by Flush.
func (m *mender) copy(in *bufio.Reader) (err error) {
	m.line = 1
	switch guess(in) {
	case COCO:
		err = m.coco(in)
	case LabelStudio:
		err = m.tasks(in)
	case CVAT:
		err = m.gathered(in, &cvat)
	case Datumaro:
		err = m.gathered(in, &datumaro)
	case FiftyOne:
		err = m.gathered(in, &fiftyOne)
	case JSONL:
		err = m.lines(in, m.jsonl)
	case PRISM:
		err = m.lines(in, m.prism)
	case TSV:
		m.comma = '\t'
		err = m.csv(in)
	default:
		m.comma = ReadOptions{Names: m.d.Names}.separator(in)
		err = m.csv(in)
	}
	return err
}

// mark consumes a byte order mark.
func mark(in *bufio.Reader) ([]byte, error) {
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

// lines copies a source with one sample per line.
func (m *mender) lines(in *bufio.Reader, sample func(text []byte) ([]byte, error)) error {
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

// prism mends a line of a list without a header; nil: it is dropped.
func (m *mender) prism(text []byte) ([]byte, error) {
	p, was, ok := listLine(string(text))
	if !ok {
		return nil, fmt.Errorf(":%d: found %.200q, expected path,label or path label", m.line, text)
	}
	what, err := m.decide(p, was)
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

// jsonl mends an object; nil: it is dropped.
func (m *mender) jsonl(line []byte) ([]byte, error) {
	var sample struct {
		path, label string
		at          [][2]int // the values of the key label
	}
	if m.keys[labelColumn] == "" {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(line, &object); err != nil {
			return nil, fmt.Errorf(":%d: %w", m.line, err)
		}
		var err error
		how := reading{ReadOptions: ReadOptions{Names: m.d.Names}}
		if m.keys, _, err = how.keys("", slices.Sorted(maps.Keys(object))); err != nil {
			return nil, fmt.Errorf(":%d: %w", m.line, err)
		}
	}
	in := json.NewDecoder(bytes.NewReader(line))
	_, err := in.Token()
	for err == nil && in.More() {
		var key json.Token
		var raw json.RawMessage
		if key, err = in.Token(); err == nil {
			err = in.Decode(&raw)
		}
		if err != nil {
			break
		}
		switch key {
		case m.keys[pathColumn]:
			sample.path, err = jsontext.Plain(raw)
		case m.keys[labelColumn]:
			end := int(in.InputOffset())
			sample.at = append(sample.at, [2]int{end - len(raw), end})
			sample.label, err = jsontext.Plain(raw)
		}
	}
	if err != nil {
		return nil, fmt.Errorf(":%d: %w", m.line, err)
	}
	what, err := m.decide(sample.path, exact(sample.label))
	if err != nil || what.Drop {
		return nil, err
	}
	line = m.longer(line)
	if what.Label == exact(sample.label) {
		return line, nil
	}
	out, from := []byte{}, 0
	for _, at := range sample.at {
		value := []byte(what.Label)
		if n, err := strconv.Atoi(what.Label); line[at[0]] == '"' || err != nil || strconv.Itoa(n) != what.Label {
			value = quoted(what.Label)
		}
		out, from = append(append(out, line[from:at[0]]...), value...), at[1]
	}
	return append(out, line[from:]...), nil
}

// longer returns the object of the sample that was decided last with the members of the columns that are added.
func (m *mender) longer(line []byte) []byte {
	if len(m.more) == 0 {
		return line
	}
	end := bytes.LastIndexByte(line, '}')
	out := slices.Clone(bytes.TrimRight(line[:end], " \t"))
	for _, c := range m.more {
		out = append(append(append(append(out, ", "...), quoted(c.Name)...), ": "...), quoted(c.Cells[m.next-1])...)
	}
	return append(out, line[end:]...)
}

// quoted returns a JSON string.
func quoted(s string) []byte {
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	_ = to.Encode(s) // cannot fail: a string, into a buffer
	return bytes.TrimSpace(out.Bytes())
}

// csv copies a manifest with a header: the parser locates records and labels, whose bytes are copied.
func (m *mender) csv(raw io.Reader) error {
	var passed bytes.Buffer // what the parser has read and is not copied yet
	in := newCells(io.TeeReader(raw, &passed), m.comma)
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
			places, _, _, err := how.header("", record)
			if err != nil && m.d.Samples[0].Path == "0" {
				how.Numbered = true
				places, _, _, err = how.header("", record)
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
			}
			m.width = len(record)
			_, _ = m.out.Write(m.extended(text, len(record), func(c Column) string { return c.Name }))
			m.line += bytes.Count(text, []byte("\n"))
			continue
		}
		if !slices.ContainsFunc(record, func(cell string) bool { return cell != "" }) && len(record) > 1 {
			_, _ = m.out.Write(text)
		} else if err := m.record(in, record, path, label, text); err != nil {
			return err
		}
		m.line += bytes.Count(text, []byte("\n"))
	}
}

// record mends one record; text is its bytes.
func (m *mender) record(in cells, record []string, path, label int, text []byte) error {
	if len(record) <= max(path, label) {
		return fmt.Errorf(":%d: %d fields, expected more", m.line, len(record))
	}
	was, name := exact(record[label]), strconv.Itoa(m.next)
	if path >= 0 {
		name = exact(record[path])
	}
	what, err, sample := Decision{Label: was}, error(nil), m.next
	if m.hot != nil {
		if was, err = m.hot.label(m.header, record); err == nil {
			what, err = m.decide(name, was)
		}
	} else if m.boxes == nil {
		what, err = m.decide(name, was)
	} else {
		what, err = m.box(name, was)
	}
	more := func(text []byte) []byte {
		return m.extended(text, len(record), func(c Column) string {
			if m.next == sample { // a row that is no sample
				return ""
			}
			return c.Cells[sample]
		})
	}
	switch {
	case err != nil:
		return err
	case what.Drop:
	case what.Label == was:
		_, _ = m.out.Write(more(text))
	case m.hot != nil:
		moved, err := m.hot.move(in, m.header, text, was, what.Label)
		if err != nil {
			return fmt.Errorf(":%d: %s: %w", m.line, name, err)
		}
		_, _ = m.out.Write(more(moved))
	default:
		from, to := in.span(text, label)
		_, _ = m.out.Write(text[:from])
		_, _ = m.out.WriteString(field(what.Label, m.comma))
		_, _ = m.out.Write(more(text[to:]))
	}
	return err
}

// extended returns the end of a row of n cells with the cells of the columns that are added.
func (m *mender) extended(text []byte, n int, cell func(Column) string) []byte {
	if len(m.more) == 0 {
		return text
	}
	row := bytes.TrimRight(text, "\r\n")
	out := slices.Clone(row)
	for range m.width - n { // a row may be shorter than the header
		out = append(out, string(m.comma)...)
	}
	for _, c := range m.more {
		out = append(append(out, string(m.comma)...), field(cell(c), m.comma)...)
	}
	return append(out, text[len(row):]...)
}

// box returns the decision on a row of a table of boxes, with the label as the table writes it. A row that was not
// read as a sample stays.
func (m *mender) box(name, was string) (what Decision, err error) {
	m.boxes.rows++
	_, _, cropped := CutCrop(name)
	if !cropped && (m.next >= len(m.d.Samples) || !isRow(m.d.Samples[m.next].Path, m.boxes.rows)) {
		return Decision{Label: was}, nil
	}
	shown, sample := was, name
	if m.boxes.names != nil {
		shown = m.boxes.names.of(was)
	}
	if !cropped {
		sample = m.d.Samples[m.next].Path
		file, _, _ := CutCrop(sample)
		if !samePicture(name, file) {
			sample = name // decide says that it has changed
		}
	}
	if what, err = m.decide(sample, shown); err != nil || what.Drop {
		return what, err
	}
	if what.Label == shown {
		what.Label = was
	} else if m.boxes.names != nil {
		if what.Label, err = m.boxes.names.back(what.Label); err != nil {
			err = fmt.Errorf(":%d: %w", m.line, err)
		}
	}
	return what, err
}
