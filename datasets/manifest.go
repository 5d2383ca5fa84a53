package datasets

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"winnow/internal/regular"
)

// Format names a way to write down a dataset.
type Format string

// The formats Read knows.
const (
	Auto    Format = "auto"    // by what is there: a folder, or the first line of a file
	CSV     Format = "csv"     // header path,label[,split][,true_label][,…]
	JSONL   Format = "jsonl"   // one object a line with the same keys
	Folders Format = "folders" // a folder per class, perhaps below train/, validation/, test/ …
	PRISM   Format = "prism"   // headerless path,label as PRISM's released lists
)

// ReadOptions say how to take a source; the zero value guesses.
type ReadOptions struct {
	Format      Format // "" means Auto
	Split       string // split of rows that name none; "" means train
	StripPrefix string // removed from the front of every path
	Numbered    bool   // a table with a header and no column path is read: its images are called by their rows, from 0
	// Once, where it is given, says that the source is read this once, so that a pipe which the shell opened, or - for standard
	// input, will do; the reading of a pipe or a folder ends with it.
	Once context.Context
}

// Read reads a dataset from a manifest file, an image folder, or a .zip file of one.
func Read(source string, opts ReadOptions) (*Dataset, error) {
	if opts.Format == "" {
		opts.Format = Auto
	}
	if isFolder(source) {
		if opts.Format != Auto && opts.Format != Folders {
			return nil, fmt.Errorf("datasets: %s: is a folder, expected a %s file", source, opts.Format)
		}
		if IsZip(source) {
			return readZip(source, opts)
		}
		return ReadFolders(regular.Dir(source), source, opts)
	}
	open := regular.Open
	if opts.Once != nil {
		open = regular.Stream
	}
	f, err := open(source)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	defer f.Close()
	if opts.Once == nil {
		return ReadManifest(f, source, opts)
	}
	defer context.AfterFunc(opts.Once, func() { f.Close() })() // so that what waits for a writer waits no longer
	d, err := ReadManifest(f, source, opts)
	return d, cmp.Or(opts.Once.Err(), err)
}

// ReadManifest reads a CSV, JSONL or PRISM manifest; name stands in the errors.
func ReadManifest(r io.Reader, name string, opts ReadOptions) (*Dataset, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	if bom, _ := in.Peek(3); string(bom) == "\ufeff" {
		_, _ = in.Discard(3) // just peeked
	}
	head, _ := in.Peek(4096) // as much as there is
	if err := foreign(head); err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	format := opts.Format
	if format == Auto || format == "" {
		format = guess(in)
	}
	if opts.Split == "" {
		opts.Split = Train
	}
	split, err := ParseSplit(opts.Split)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	opts.Split = split
	var d *Dataset
	switch format {
	case CSV:
		d, err = readCSV(in, name, opts)
	case JSONL:
		d, err = readJSONL(in, name, opts)
	case PRISM:
		d, err = readPRISM(in, name, opts)
	default:
		return nil, fmt.Errorf("datasets: %s: format %q is unknown, expected %s, %s, %s, %s or %s", name, opts.Format, Auto, CSV, JSONL, Folders, PRISM)
	}
	if err != nil {
		return nil, err
	}
	if len(d.Samples) == 0 {
		return nil, fmt.Errorf("datasets: %s: no sample found, expected at least one line of path and label", name)
	}
	return d, nil
}

// guess returns the format by the first line.
func guess(in *bufio.Reader) Format {
	head, _ := in.Peek(4096) // as much as there is
	line, _, _ := bytes.Cut(head, []byte("\n"))
	line = bytes.TrimSpace(line)
	if bytes.HasPrefix(line, []byte("{")) {
		return JSONL
	}
	fields := strings.Split(string(line), ",")
	for i := range fields {
		fields[i] = strings.ToLower(strings.Trim(fields[i], ` "`))
	}
	_, notNumber := strconv.Atoi(fields[len(fields)-1])
	named := slices.Contains(fields, "label") || slices.Contains(fields, "given_label")
	if !named && (len(fields) == 2 || notNumber == nil) {
		return PRISM // a comma in a path does not fool it
	}
	return CSV
}

// readCSV reads a CSV manifest.
func readCSV(r io.Reader, name string, opts ReadOptions) (*Dataset, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = -1 // told in our words below
	header, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("datasets: %s: file is empty, expected a header path,label,split", name)
	}
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	at := map[string]int{"path": -1, "label": -1, "split": -1, "true_label": -1}
	var columns []string
	var extra []int
	for i, h := range header {
		key := strings.ToLower(strings.TrimSpace(h))
		if was, ok := at[key]; !ok {
			if slices.Contains(columns, h) {
				return nil, fmt.Errorf("datasets: %s:1: column %.80q appears twice in the header", name, h)
			}
			columns, extra = append(columns, h), append(extra, i)
		} else if was >= 0 {
			return nil, fmt.Errorf("datasets: %s:1: column %q appears twice in the header", name, key)
		} else {
			at[key] = i
		}
	}
	if k := slices.Index(columns, "given_label"); opts.Numbered && at["label"] < 0 && k >= 0 {
		at["label"] = extra[k]
		columns, extra = slices.Delete(columns, k, k+1), slices.Delete(extra, k, k+1)
	}
	if at["path"] < 0 && !opts.Numbered || at["label"] < 0 {
		return nil, fmt.Errorf("datasets: %s:1: header is %.200q, expected the columns path and label", name, strings.Join(header, ","))
	}
	var rows []row
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return build(rows, columns), nil
		}
		if err != nil {
			return nil, fmt.Errorf("datasets: %s: %w", name, err)
		}
		line, _ := in.FieldPos(0)
		if len(record) != len(header) {
			return nil, fmt.Errorf("datasets: %s:%d: %d fields, expected %d as in the header", name, line, len(record), len(header))
		}
		get := func(key string) string {
			if at[key] < 0 {
				return ""
			}
			return strings.TrimSpace(record[at[key]])
		}
		r := row{path: get("path"), label: get("label"), split: get("split"), truth: get("true_label")}
		if at["path"] < 0 {
			r.path = strconv.Itoa(len(rows))
		}
		for _, i := range extra {
			r.extra = append(r.extra, record[i])
		}
		if rows, err = appendRow(rows, r, opts); err != nil {
			return nil, fmt.Errorf("datasets: %s:%d: %w", name, line, err)
		}
	}
}

// readPRISM reads PRISM's released lists: the label is what follows the last comma.
func readPRISM(r io.Reader, name string, opts ReadOptions) (*Dataset, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 1<<16), 1<<20)
	var rows []row
	for line := 1; in.Scan(); line++ {
		text := strings.TrimRight(in.Text(), "\r")
		if text == "" {
			continue
		}
		comma := strings.LastIndexByte(text, ',')
		if comma < 0 {
			return nil, fmt.Errorf("datasets: %s:%d: %.200q holds no comma, expected path,label", name, line, text)
		}
		label := strings.TrimSpace(text[comma+1:])
		if _, err := strconv.Atoi(label); err != nil {
			return nil, fmt.Errorf("datasets: %s:%d: label %.80q is not an integer", name, line, label)
		}
		var err error
		if rows, err = appendRow(rows, row{path: text[:comma], label: label}, opts); err != nil {
			return nil, fmt.Errorf("datasets: %s:%d: %w", name, line, err)
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	return build(rows, nil), nil
}

// appendRow checks and completes a row.
func appendRow(rows []row, r row, opts ReadOptions) ([]row, error) {
	var err error
	if r.path, err = cleanPath(r.path, opts.StripPrefix); err != nil {
		return nil, err
	}
	if r.split == "" {
		r.split = opts.Split
	}
	if r.split, err = ParseSplit(r.split); err != nil {
		return nil, err
	}
	return append(rows, r), nil
}
