package folder

import (
	"os"

	"winnow/datasets/location"
	"winnow/features"
	"winnow/run/config"
)

// Places are where the data of a run were, by their keys in the configuration.
type Places map[string]location.Place

// backboneKey is the key of the backbone that made the features.
const backboneKey = "backbone"

// PlacesOf returns where the data of a run in dir are, and the file of the backbone that made its features. An entry
// that is "" has no place, nor has a model that is a name and not a file.
func PlacesOf(dir string, d config.Data, backbone string) Places {
	p := Places{}
	for key, path := range dataPaths(&d) {
		if *path != "" && (key != "model" || isFile(*path)) {
			p[key] = location.PlaceOf(dir, location.At(*path))
		}
	}
	if backbone != "" {
		p[backboneKey] = location.PlaceOf(dir, location.At(backbone))
	}
	return p
}

func dataPaths(d *config.Data) map[string]*string {
	return map[string]*string{"manifest": &d.Manifest, "root": &d.Root, "features": &d.Features, "model": &d.Model}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Locate returns the data of a configuration in the folder dir as they can be opened from here. That matters if dir is
// a run: it may have moved, with its data or without, and its relative paths start from where it was started. Entries
// that were changed after the run began, and runs that noted no places, are left alone.
func Locate(dir string, d config.Data) config.Data {
	facts, err := ReadFacts(dir)
	if err != nil {
		return d
	}
	for key, path := range dataPaths(&d) {
		if was, ok := facts.Places[key]; ok && was.Given == location.At(*path) && !was.Absolute.IsZero() {
			*path = was.Find(dir, nil).String()
		}
	}
	return d
}

// BackboneFiles lists where the backbone that made the features of the run may be.
func (r *Run) BackboneFiles() []string {
	list := []string{r.Config.Data.Model}
	if facts, err := ReadFacts(r.Dir); err == nil {
		if was, ok := facts.Places[backboneKey]; ok {
			for _, at := range was.Candidates(r.Dir) {
				list = append(list, at.Path())
			}
		}
	}
	if s, err := features.Open(r.originalStore()); err == nil {
		list = append(list, s.ModelFile)
	}
	return list
}
