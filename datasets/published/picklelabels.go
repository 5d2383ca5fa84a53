package published

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
)

// torchMagic opens what torch.save wrote before PyTorch 1.6: a pickle of a number of ten bytes.
const torchMagic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e"

// readTorch reads a dictionary of label arrays that torch.save wrote: a zip file with data.pkl in it, or (the older
// form) four pickles one after the other, the last of which is the dictionary.
func readTorch(data []byte) (labelTable, error) {
	if bytes.HasPrefix(data, []byte(torchMagic)) {
		p := &pickle{data: data}
		for range 3 { // magic number, version, sizes of types
			if _, err := p.load(); err != nil {
				return nil, err
			}
		}
		return p.table()
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
	return (&pickle{data: text}).table()
}

// table loads a pickle and takes the arrays of labels out of the dictionary that it makes, or out of an array that holds
// one as its only object, as numpy.save writes a dictionary.
func (p *pickle) table() (labelTable, error) {
	v, err := p.load()
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
			continue // no set of labels; which are there is told where one is missing
		}
		if err := p.spend(8 * min(a.shape[0], len(a.data))); err != nil { // an array may stand under many names
			return nil, err
		}
		labels, err := decodeInts(a.kind, a.data, a.shape[0])
		if err != nil {
			return nil, fmt.Errorf("%.80s: %w", name, err)
		}
		table[name] = labels
	}
	return table, nil
}
