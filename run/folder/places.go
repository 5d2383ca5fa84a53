package folder

import (
	"os"
	"path/filepath"

	"winnow/features"
	"winnow/run/config"
)

// Place is where something lay that a run was made of. Seen from the run it is found again where both were moved together;
// by its absolute path where the run alone was, or where a command runs in another folder.
type Place struct {
	Given    string `json:"given"` // as config.yaml has it: seen from where the training was started
	FromRun  string `json:"from_run,omitempty"`
	Absolute string `json:"absolute"`
}

// Places are those of run.json by the keys of the configuration's data, and of the file of the backbone that made the
// features.
type Places map[string]Place

// backboneKey is the place of the backbone's file.
const backboneKey = "backbone"

// PlacesOf returns where the data of a run in dir lie, and the file of the backbone that made its features; what is "" has
// no place, nor has a model that is named and not a file.
func PlacesOf(dir string, d config.Data, backbone string) Places {
	p := Places{}
	for key, path := range dataPaths(&d) {
		if key != "model" || isFile(*path) {
			p.add(key, dir, *path)
		}
	}
	p.add(backboneKey, dir, backbone)
	return p
}

func dataPaths(d *config.Data) map[string]*string {
	return map[string]*string{"manifest": &d.Manifest, "root": &d.Root, "features": &d.Features, "model": &d.Model}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func (p Places) add(key, dir, path string) {
	if path == "" {
		return
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return // the working folder is gone: what was given has to do
	}
	place := Place{Given: path, Absolute: absolute}
	if within, err := filepath.EvalSymlinks(filepath.Dir(absolute)); err == nil { // a link of the last name stays one: it may lead on
		if from, err := filepath.Abs(resolved(dir)); err == nil {
			if rel, err := filepath.Rel(from, filepath.Join(within, filepath.Base(absolute))); err == nil {
				place.FromRun = filepath.ToSlash(rel)
			}
		}
	}
	p[key] = place
}

// resolved returns a folder without links, as .. leads elsewhere behind one.
func resolved(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// Locate returns the data of a configuration that lies in the folder dir as they can be opened from here, which matters if it
// is the folder of a run: the run may have moved, with its data or without, and paths that were given to it start from
// where it was started. What the configuration says otherwise than when the run began, and runs that noted no places, are
// left alone.
func Locate(dir string, d config.Data) config.Data {
	facts, err := ReadFacts(dir)
	if err != nil {
		return d
	}
	for key, path := range dataPaths(&d) {
		if place, ok := facts.Places[key]; ok && place.Given == *path {
			*path = place.find(dir, facts.same(key))
		}
	}
	return d
}

// same returns what recognises something of a run by what is in it; nil where only names count.
func (f Facts) same(key string) func(path string) bool {
	switch {
	case key == "manifest" && f.ManifestSHA256 != "":
		return func(path string) bool { sum, err := FileSum(path); return err == nil && sum == f.ManifestSHA256 }
	case key == "features":
		return func(path string) bool { s, err := features.Open(path); return err == nil && s.Sum == f.FeaturesSHA256 }
	}
	return nil
}

// find returns where something is now. Of several that are there it takes the first that is the same as it was, or else the
// first; of none where it was.
func (p Place) find(dir string, same func(path string) bool) string {
	var there []string
	var infos []os.FileInfo
next:
	for _, path := range p.candidates(dir) {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		for _, other := range infos {
			if os.SameFile(info, other) {
				continue next
			}
		}
		there, infos = append(there, path), append(infos, info)
	}
	if len(there) == 0 {
		return p.Absolute
	}
	if len(there) > 1 && same != nil {
		for _, path := range there {
			if same(path) {
				return path
			}
		}
	}
	return there[0]
}

// candidates are the paths where something may be now, the likeliest first.
func (p Place) candidates(dir string) (list []string) {
	if p.FromRun != "" {
		list = append(list, filepath.Join(resolved(dir), filepath.FromSlash(p.FromRun)))
	}
	return append(list, p.Absolute, p.Given)
}

// BackboneFiles lists where the file of the backbone may be that made the features of the run.
func (r *Run) BackboneFiles() []string {
	list := []string{r.Config.Data.Model}
	if facts, err := ReadFacts(r.Dir); err == nil {
		if place, ok := facts.Places[backboneKey]; ok {
			list = append(list, place.candidates(r.Dir)...)
		}
	}
	if s, err := features.Open(r.OriginalStore()); err == nil {
		list = append(list, s.ModelFile)
	}
	return list
}
