package pictures

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"sync"
)

// disk keeps pictures as files in 256 folders, each with an equal share of the bytes; the oldest files are
// removed first. A file that cannot be read or written counts as not kept. Without a folder disk keeps nothing.
type disk struct {
	folder string
	most   int64 // largest size of one folder, bytes
	parts  [256]part
}

type part struct {
	mutex  sync.Mutex
	looked bool
	bytes  int64
}

func newDisk(folder string, most int64) *disk { return &disk{folder: folder, most: most / 256} }

// namePictureFile returns the folder and file name of a picture.
func (d *disk) namePictureFile(k key) (folder, file string) {
	return hex.EncodeToString(k[:1]), hex.EncodeToString(k[1:16]) + pictureEnding
}

const (
	pictureEnding = ".jpg"
	newEnding     = ".new" // a picture that is being written
)

// openFolder opens a picture's folder, or creates it. It follows no link out of the folder of all pictures, which is
// none: a data set from somebody else may contain some.
func (d *disk) openFolder(folder string, create bool) (*os.Root, error) {
	if create {
		_ = os.Mkdir(d.folder, 0o700) // else opening it fails
	}
	if info, err := os.Lstat(d.folder); err != nil || !info.IsDir() {
		return nil, cmp.Or(err, fs.ErrExist)
	}
	all, err := os.OpenRoot(d.folder)
	if err != nil {
		return nil, err
	}
	defer all.Close()
	if create {
		_ = all.Mkdir(folder, 0o700)
	}
	return all.OpenRoot(folder)
}

// readPicture reads a picture. Files are not synced, so one may be broken after a power failure; therefore it checks
// the beginning and end of the JPEG file.
func (d *disk) readPicture(k key) ([]byte, bool) {
	if d.folder == "" {
		return nil, false
	}
	folder, file := d.namePictureFile(k)
	root, err := d.openFolder(folder, false)
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

func (d *disk) writePicture(k key, data []byte) {
	if d.folder == "" || int64(len(data)) > d.most {
		return
	}
	p := &d.parts[k[0]]
	p.mutex.Lock()
	defer p.mutex.Unlock()
	folder, file := d.namePictureFile(k)
	root, err := d.openFolder(folder, true)
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
		p.bytes = removeOldest(root, d.most/2)
	}
	if writeNew(root, file, data) == nil {
		p.bytes += int64(len(data))
	}
}

// writeNew writes a file under a random name in the same folder and then renames it.
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

// removeOldest removes the oldest files until at most most bytes are left, and returns how many are left.
func removeOldest(root *os.Root, most int64) (left int64) {
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

// ours matches the names of pictures, and of those being written or left by a killed process.
var ours = regexp.MustCompile(`^([0-9a-f]{30}\` + pictureEnding + `|[A-Z2-7]{26}\` + newEnding + `)$`)

// filesOf lists the cache's own files in a folder. Others must not be removed.
func filesOf(root *os.Root) (list []fs.FileInfo) {
	entries, _ := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && ours.MatchString(e.Name()) {
			list = append(list, info)
		}
	}
	return list
}
