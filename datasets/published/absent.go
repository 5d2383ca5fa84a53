package published

import (
	"fmt"
	"io/fs"
	"path"

	"winnow/datasets"
)

// describeAbsent describes how many images of a dataset are missing, or returns "" if none is. It lists each folder
// once.
func describeAbsent(fsys fs.FS, p Preset, d *datasets.Dataset) string {
	if p.Packed {
		return ""
	}
	folders := make(map[string]map[string]bool)
	count, first := 0, ""
	for i := range d.Samples {
		dir, file := path.Split(d.Samples[i].Path)
		there, ok := folders[dir]
		if !ok {
			there = make(map[string]bool)
			entries, _ := fs.ReadDir(fsys, path.Clean(dir)) // a folder that cannot be listed counts as empty
			for _, e := range entries {
				there[e.Name()] = true
			}
			folders[dir] = there
		}
		if !there[file] {
			if count++; count == 1 {
				first = d.Samples[i].Path
			}
		}
	}
	if count == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d images are not there, the first is %s", count, len(d.Samples), first)
}
