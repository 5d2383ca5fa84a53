package datasets

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	text "golang.org/x/text/encoding"
	"golang.org/x/text/transform"

	"winnow/datasets/location"
)

// Format is a way to store a dataset.
type Format string

// The formats that Read accepts.
const (
	Auto  Format = "auto"  // guessed from the content: a folder, or the first line of a file
	CSV   Format = "csv"   // header path,label[,split][,true_label][,…]
	TSV   Format = "tsv"   // the same columns separated by tabs
	JSONL Format = "jsonl" // one object per line with the same keys
	// Folders is one folder per class, optionally below train/, validation/, …; unlike Auto, it ignores metadata and
	// boxes.
	Folders Format = "folders"
	Classes Format = "classes" // one folder per class, even if a folder is named after a split
	// PRISM is a list without a header: path,label as released for PRISM, or path label as for ImageNet.
	PRISM Format = "prism"
	COCO  Format = "coco" // JSON with images, annotations and categories
	// WebDataset is tar files that store the files of a sample one after another. The source is a name pattern, a file
	// or a folder.
	WebDataset Format = "webdataset"
	// Parquet is tables with an image column, as in Hugging Face's datasets; the source is the same as for WebDataset.
	Parquet Format = "parquet"

	LabelStudio Format = "labelstudio" // Label Studio's JSON and JSON_MIN exports
)

// ReadOptions sets how a source is read. The zero value guesses.
type ReadOptions struct {
	Format      Format          // "" means Auto
	Split       string          // split of rows without one; "" means train
	StripPrefix string          // removed from the front of every path
	Root        location.Source // folder that a list's paths start from; zero: the folder of the list
	Names       Names           // names of the table's columns
	CropMargin  float64         // added to a box on each side, as a share of the box's side
	MinBox      int             // boxes with a shorter side are left out; 0 means 1
	Conflicts   bool            // accept an image with two labels: its later rows are in Repeats
	Numbered    bool            // accept a table without a path column: the path is the row number, from 0
	// Once, if not nil, promises that the source is read only once. This allows a pipe opened by the shell, and "-" for
	// standard input. Reading a pipe or a folder stops when the context ends.
	Once context.Context
	Note func(format string, args ...any) // receives a line about each guess; may be nil
}

// getContext returns the context that stops the reading.
func (o ReadOptions) getContext() context.Context {
	if o.Once == nil {
		return context.Background()
	}
	return o.Once
}

// reading holds the options and state of reading one table, from its own file or as the metadata of a folder.
type reading struct {
	ReadOptions
	unlabelled *bool            // nil: labels are required; else set to whether the label column is missing
	within     func(*row) error // completes a row
	from       location.Source  // the file of the table, if any
	western    bool             // whether the table is in Latin-1
}

// Read reads a dataset from a manifest file, an image folder, a .zip file of one, or shards: a single shard, a name
// pattern (train-*.tar) or a folder of shards. Each image is read once per split
// ([Dataset.ReadOnce]).
func Read(source location.Source, opts ReadOptions) (*Dataset, error) {
	d, err := readSource(source, opts)
	if err != nil {
		return nil, err
	}
	notes, err := d.ReadOnce(func(sample int) string { return fmt.Sprintf("row %d", sample+1) }, opts.Conflicts)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", source, err)
	}
	opts.noteLines(source.String(), notes)
	return d, nil
}

// ReadFile is [Read] for a source given by name: a path, file://PATH, s3://BUCKET/KEY or gs://BUCKET/KEY.
func ReadFile(name string, opts ReadOptions) (*Dataset, error) { return Read(location.At(name), opts) }

func readSource(source location.Source, opts ReadOptions) (*Dataset, error) {
	opts.Format = cmp.Or(opts.Format, Auto)
	ctx := opts.getContext()
	layout, err := LayoutOf(ctx, source)
	if err != nil && (source.IsRemote() || errors.Is(err, fs.ErrNotExist)) { // opening it fails, too
		return nil, fmt.Errorf("datasets: %w", err)
	}
	if _, stored := shardKinds[opts.Format]; stored && (opts.Format != Auto || layout == Shards) {
		return readShards(source, opts)
	}
	if layout == Folder || layout == Zip {
		if opts.Format != Auto && opts.Format != Folders && opts.Format != Classes {
			return nil, fmt.Errorf("datasets: %s: is a folder, expected a %s file", source, opts.Format)
		}
		dir, end, err := openTree(ctx, source, layout)
		if err != nil {
			return nil, fmt.Errorf("datasets: %w", err)
		}
		defer end()
		d, err := ReadFolders(dir, source.String(), opts)
		if layout == Folder && errors.Is(err, errNoImage) && opts.Format == Auto && holdsShards(source, opts) {
			return readShards(source, opts)
		}
		return d, err
	}
	how := reading{ReadOptions: opts, from: source}
	open := func() (io.ReadCloser, error) { return source.Open(ctx) }
	if opts.Once != nil {
		open = func() (io.ReadCloser, error) { return source.Stream(ctx) }
	}
	f, err := open()
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	defer f.Close()
	if opts.Once != nil {
		defer context.AfterFunc(opts.Once, func() { f.Close() })() // stop waiting for a pipe's writer
	}
	d, err := how.readAnyManifest(f, source.String())
	if errors.As(err, new(*notUTF8)) && !source.IsPipe() && ctx.Err() == nil { // read it again, as Latin-1
		again, err := open()
		if err != nil {
			return nil, fmt.Errorf("datasets: %w", err)
		}
		defer again.Close()
		how.western = true
		d, err = how.readAnyManifest(again, source.String())
		return d, cmp.Or(ctx.Err(), err)
	}
	return d, cmp.Or(ctx.Err(), err)
}

// openTree opens a folder or a zip file as a file system.
func openTree(ctx context.Context, source location.Source, layout Layout) (fsys fs.FS, end func(), err error) {
	if layout == Folder {
		fsys, err := source.Dir(ctx)
		return fsys, func() {}, err
	}
	f, err := source.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		fsys, err = OpenZip(f, info.Size())
	}
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", source, err)
	}
	return fsys, func() { f.Close() }, nil
}

// ReadManifest reads a CSV, TSV, JSONL or PRISM manifest; name is used in errors.
func ReadManifest(r io.Reader, name string, opts ReadOptions) (*Dataset, error) {
	return reading{ReadOptions: opts}.readAnyManifest(r, name)
}

func (opts reading) readAnyManifest(r io.Reader, name string) (*Dataset, error) {
	in := decodeText(r, opts.western)
	_, err := consumeMark(in)
	if err == nil {
		head, _ := in.Peek(headSize) // a short file gives fewer bytes
		err = refuseForeignType(head)
	}
	if err == nil {
		opts.Split, err = ParseSplit(cmp.Or(opts.Split, Train))
	}
	if err = cmp.Or(err, opts.checkBoxes()); err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	format := cmp.Or(opts.Format, Auto)
	if format == Auto {
		if format = guessFormat(in); format == PRISM && opts.hasColumnNames() {
			format = CSV
		}
	}
	valid := transform.NewReader(in, text.UTF8Validator) // encoding/json would replace invalid bytes
	var d *Dataset
	switch format {
	case CSV:
		d, err = readCSV(in, name, opts.findSeparator(in), opts)
	case TSV:
		d, err = readCSV(in, name, '\t', opts)
	case JSONL:
		d, err = readJSONL(in, name, opts)
	case COCO:
		d, err = readCOCO(valid, name, opts)
	case LabelStudio:
		d, err = readLabelStudio(valid, name, opts)
	case PRISM:
		d, err = readPRISM(in, name, opts)
	default:
		err = fmt.Errorf("datasets: %s: format %q is not of a manifest, expected %s, %s, %s, %s, %s, %s or %s",
			name, opts.Format, Auto, CSV, TSV, JSONL, PRISM, COCO, LabelStudio)
	}
	if errors.Is(err, text.ErrInvalidUTF8) {
		err = fmt.Errorf("datasets: %s: %w", name, err)
	}
	if err != nil {
		return nil, err
	}
	if len(d.Samples) == 0 {
		return nil, fmt.Errorf("datasets: %s: no sample found, expected at least one path and label%s", name,
			leftList(d.Reading.Left).explainNone())
	}
	n, err := fromWindows(d.Samples)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	if n > 0 {
		opts.noteLines(name, []string{fmt.Sprintf("read the backslashes of %d paths as separators, as Windows writes "+
			"them", n)})
	}
	if opts.western {
		opts.noteLines(name, []string{"read as Latin-1, since it is not UTF-8"})
	}
	d.Names, d.Latin1 = opts.Names, opts.western
	return d, nil
}

// guessFormat returns the format implied by the first line or, for JSON, by the first bytes.
func guessFormat(in *bufio.Reader) Format {
	head, _ := in.Peek(4096) // a short file gives fewer bytes
	if isCOCO(head) {
		return COCO
	}
	if isLabelStudio(head) {
		return LabelStudio
	}
	line := firstLine(head)
	if strings.HasPrefix(line, "{") || strings.HasPrefix(line, "[") { // readJSONL rejects other lists
		return JSONL
	}
	if cells := cellsOf(line, '\t'); len(cells) > 1 && looksNamed(cells) {
		return TSV
	}
	for _, by := range separators {
		if looksNamed(cellsOf(line, by)) {
			return CSV
		}
	}
	if p, label, ok := listLine(line); ok {
		_, notNumber := strconv.Atoi(label)
		two := len(cellsOf(line, ',')) == 2
		if isImageName(p) || two && (notNumber == nil || strings.Contains(p, "/")) ||
			notNumber == nil && strings.ContainsRune(line, ',') && strings.Contains(p, "/") {
			return PRISM // a comma in the path is allowed
		}
	}
	if strings.ContainsRune(line, '\t') && !strings.ContainsRune(line, ',') {
		return TSV
	}
	return CSV
}

// completeRow checks and completes a row.
func (opts reading) completeRow(r *row) (err error) {
	if err := cmp.Or(inUTF8(r.label), inUTF8(r.truth)); err != nil {
		return err
	}
	if r.path, err = cleanPath(r.path, opts.StripPrefix); err != nil {
		return err
	}
	if opts.within != nil {
		if err = opts.within(r); err != nil {
			return err
		}
	}
	if r.split == "" {
		r.split = opts.Split
	}
	r.split, err = ParseSplit(r.split)
	return err
}
