package pictures

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// disk keeps pictures as files in 256 folders, each of which holds its part of the bytes: the oldest go first. A file
// that cannot be read or written counts as not kept. A nil disk keeps nothing.
type disk struct {
	folder string
	most   int64 // bytes of one of the folders
	parts  [256]part
}

type part struct {
	mutex  sync.Mutex
	looked bool
	bytes  int64
}

func newDisk(folder string, most int64) *disk { return &disk{folder: folder, most: most / 256} }

func (d *disk) name(k key) (folder, file string) {
	folder = filepath.Join(d.folder, hex.EncodeToString(k[:1]))
	return folder, filepath.Join(folder, hex.EncodeToString(k[1:16])+".jpg")
}

// get reads a picture. Files are not synced, so that one may be broken after a power failure: a JPEG file has a beginning
// and an end.
func (d *disk) get(k key) ([]byte, bool) {
	if d == nil {
		return nil, false
	}
	_, file := d.name(k)
	data, err := os.ReadFile(file)
	if err != nil || !bytes.HasPrefix(data, []byte("\xff\xd8")) || !bytes.HasSuffix(data, []byte("\xff\xd9")) {
		return nil, false
	}
	return data, true
}

func (d *disk) put(k key, data []byte) {
	if d == nil || int64(len(data)) > d.most {
		return
	}
	p := &d.parts[k[0]]
	p.mutex.Lock()
	defer p.mutex.Unlock()
	folder, file := d.name(k)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return
	}
	if !p.looked {
		p.bytes, p.looked = 0, true
		for _, e := range filesOf(folder) {
			p.bytes += e.Size()
		}
	}
	if p.bytes+int64(len(data)) > d.most {
		p.bytes = shrink(folder, d.most/2)
	}
	temporary := file + ".new"
	if os.WriteFile(temporary, data, 0o600) != nil || os.Rename(temporary, file) != nil {
		os.Remove(temporary)
		return
	}
	p.bytes += int64(len(data))
}

// shrink removes the oldest files until at most so many bytes are left, and returns how many are.
func shrink(folder string, most int64) (left int64) {
	files := filesOf(folder)
	slices.SortFunc(files, func(a, b fs.FileInfo) int { // the newest first
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, f := range files {
		if left+f.Size() <= most {
			left += f.Size()
			continue
		}
		if os.Remove(filepath.Join(folder, f.Name())) != nil {
			left += f.Size()
		}
	}
	return left
}

func filesOf(folder string) (list []fs.FileInfo) {
	entries, _ := os.ReadDir(folder) // a missing folder is empty
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			list = append(list, info)
		}
	}
	return list
}
