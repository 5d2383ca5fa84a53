package published

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
)

// torchMagic begins files that torch.save wrote before PyTorch 1.6: a pickle of a ten-byte number.
const torchMagic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e"

// readTorch reads a dictionary of label arrays written by torch.save: a zip file that contains data.pkl, or (the
// older form) four pickles in sequence, the last of which is the dictionary.
func readTorch(data []byte) (labelTable, error) {
	if bytes.HasPrefix(data, []byte(torchMagic)) {
		p := &pickle{data: data}
		for range 3 { // magic number, version, sizes of types
			if _, err := p.loadPickle(); err != nil {
				return nil, err
			}
		}
		return p.loadLabelTable()
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(archive.File, func(f *zip.File) bool { return path.Base(f.Name) == "data.pkl" })
	if at < 0 {
		return nil, errors.New("found no data.pkl in it, expected a file of torch.save")
	}
	f, err := archive.File[at].Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := readLabels(f, "")
	if err != nil {
		return nil, fmt.Errorf("data.pkl: %w", err)
	}
	return (&pickle{data: text}).loadLabelTable()
}

// loadLabelTable loads a pickle and returns the label arrays of its dictionary. The dictionary may be wrapped in an
// array of one object, as numpy.save does.
func (p *pickle) loadLabelTable() (labelTable, error) {
	v, err := p.loadPickle()
	if err != nil {
		return nil, err
	}
	if a, ok := v.(*pickleArray); ok && len(a.items) == 1 {
		v = a.items[0]
	}
	d, ok := v.(*pickleDict)
	if !ok {
		return nil, fmt.Errorf("pickle holds a %T, expected a dictionary of label arrays", v)
	}
	table := make(labelTable, len(d.keys))
	for i, key := range d.keys {
		name, isText := key.(string)
		a, isArray := d.values[i].(*pickleArray)
		if !isText || !isArray || len(a.shape) != 1 || a.data == nil {
			continue // not a label set; the existing ones are listed if one is missing
		}
		if p.spendBytes(8 * min(a.shape[0], len(a.data))); p.err != nil { // an array may have many names
			return nil, p.err
		}
		labels, err := decodeInts(a.kind, a.data, a.shape[0])
		if err != nil {
			return nil, fmt.Errorf("%.80s: %w", name, err)
		}
		table[name] = labels
	}
	return table, nil
}
