package folder

import (
	"os"

	"winnow/datasets/location"
	"winnow/features"
	"winnow/run/config"
)

// Places holds the places of a run's data, by their keys in the configuration.
type Places map[string]location.Place

// backboneKey is the key of the backbone that computed the features.
const backboneKey = "backbone"

// PlacesOf returns the places of the data of a run in dir, and of the backbone that computed its features. Empty
// entries and a model given by its name have no place.
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

// Locate returns the data of the configuration in the folder dir, with paths that can be opened now. The folder of a
// run may have moved, with its data or without, and its relative paths refer to the working folder of the training.
// Locate does not change entries that were edited after the run started, nor those of runs without recorded places.
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

// BackboneFiles returns the possible files of the backbone that computed the features of the run.
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
