package models

import (
	"fmt"
	"slices"

	"winnow/backbone/graph"
	"winnow/internal/regular"
	"winnow/models/architecture"
)

// Choose returns the backbone for photographs if the user names none, and the reason: the best known backbone whose
// file exists, else the last backbone that the user added under a new name. ok is false if there is none. Choose never
// returns the compiled-in backbone, which is for drawn characters, or networks with random weights.
func (r *Registry) Choose() (name, why string, ok bool) {
	known := readKnown()
	best, own, n := len(known), []Listed(nil), 0
	for _, m := range r.List() {
		if !m.Found || m.Path == "" {
			continue
		}
		n++
		if at := knownAt(m.Name); at >= 0 {
			best = min(best, at)
		} else {
			own = append(own, m)
		}
	}
	if best < len(known) {
		name, why = known[best].Name, fmt.Sprintf("the best known of %d installed backbones", n)
	}
	for _, m := range slices.Backward(own) { // read files only until one is chosen
		if name == "" && !isRandomFile(m.Path) {
			name, why = m.Name, fmt.Sprintf("the last added of %d installed backbones", n)
		}
	}
	if n == 1 {
		why = "the only installed backbone"
	}
	return name, why, name != ""
}

// Small returns the best known backbone that can be downloaded at once: 20 MB at most, and no terms to accept.
func Small() (name string, bytes int64) {
	const most = 20e6
	for _, b := range readKnown() {
		if p := b.Published; p != nil && len(p.Places) > 0 && p.Terms == "" && p.Total() <= most {
			return b.Name, p.Total()
		}
	}
	return "", 0
}

// Missing returns the backbone that the user added last, if its file is missing and Choose returns no known backbone.
func (r *Registry) Missing() (Entry, bool) {
	if name, _, _ := r.Choose(); len(r.user) == 0 || knownAt(name) >= 0 {
		return Entry{}, false
	}
	last := r.user[len(r.user)-1]
	_, found := r.Locate(last)
	return last, !found
}

// isRandomFile reports whether a file is a network whose metadata say that its weights are random. It reports false for
// an unreadable file, which is rejected elsewhere.
func isRandomFile(file string) bool {
	data, err := regular.ReadFile(file, MaxFile)
	if err != nil {
		return false
	}
	m, err := graph.Read(data)
	return err == nil && architecture.Drawn(m)
}
