package pictures

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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

// name returns a picture's folder and its file there.
func (d *disk) name(k key) (folder, file string) {
	return hex.EncodeToString(k[:1]), hex.EncodeToString(k[1:16]) + pictureEnding
}

const (
	pictureEnding = ".jpg"
	newEnding     = ".new" // of a picture that is being written
)

// part opens the folder of a picture. Links that lead out of the folder of all pictures are not followed: a data set
// that was sent may have some beside it.
func (d *disk) part(folder string) (*os.Root, error) {
	all, err := os.OpenRoot(d.folder)
	if err != nil {
		return nil, err
	}
	defer all.Close()
	return all.OpenRoot(folder)
}

// get reads a picture. Files are not synced, so that one may be broken after a power failure: a JPEG file has a beginning
// and an end.
func (d *disk) get(k key) ([]byte, bool) {
	if d.folder == "" {
		return nil, false
	}
	folder, file := d.name(k)
	root, err := d.part(folder)
	if err != nil {
		return nil, false
	}
	defer root.Close()
	if info, err := root.Lstat(file); err != nil || !info.Mode().IsRegular() || info.Size() > d.most {
		return nil, false
	}
	data, err := root.ReadFile(file)
	if err != nil || !bytes.HasPrefix(data, []byte("\xff\xd8")) || !bytes.HasSuffix(data, []byte("\xff\xd9")) {
		return nil, false
	}
	return data, true
}

func (d *disk) put(k key, data []byte) {
	if d.folder == "" || int64(len(data)) > d.most {
		return
	}
	p := &d.parts[k[0]]
	p.mutex.Lock()
	defer p.mutex.Unlock()
	folder, file := d.name(k)
	if err := os.MkdirAll(filepath.Join(d.folder, folder), 0o700); err != nil {
		return
	}
	root, err := d.part(folder)
	if err != nil {
		return
	}
	defer root.Close()
	if !p.looked {
		p.bytes, p.looked = 0, true
		for _, f := range filesOf(root) {
			p.bytes += f.Size()
		}
	}
	if p.bytes+int64(len(data)) > d.most {
		p.bytes = shrink(root, d.most/2)
	}
	if writeNew(root, file, data) == nil {
		p.bytes += int64(len(data))
	}
}

// writeNew writes a file beside its place, under a name that cannot be guessed, and moves it there.
func writeNew(root *os.Root, name string, data []byte) error {
	temporary := rand.Text() + newEnding
	f, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(temporary, name)
	}
	if err != nil {
		_ = root.Remove(temporary)
	}
	return err
}

// shrink removes the oldest files until at most so many bytes are left, and returns how many are.
func shrink(root *os.Root, most int64) (left int64) {
	files := filesOf(root)
	slices.SortFunc(files, func(a, b fs.FileInfo) int { // the newest first
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, f := range files {
		if left+f.Size() <= most {
			left += f.Size()
			continue
		}
		if root.Remove(f.Name()) != nil {
			left += f.Size()
		}
	}
	return left
}

// ours are the names of pictures, and of those that are being written or were when their writer was killed.
var ours = regexp.MustCompile(`^([0-9a-f]{30}\` + pictureEnding + `|[A-Z2-7]{26}\` + newEnding + `)$`)

// filesOf lists the files of a folder that are ours: others are not to be removed.
func filesOf(root *os.Root) (list []fs.FileInfo) {
	entries, _ := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && ours.MatchString(e.Name()) {
			list = append(list, info)
		}
	}
	return list
}
