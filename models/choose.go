package models

import (
	"fmt"
	"slices"

	"winnow/backbone/graph"
	"winnow/internal/regular"
	"winnow/models/architecture"
)

// merit says why a backbone has its place in byQuality.
type merit struct {
	why   string
	names []string // best first
}

// merits order the known backbones for photographs by how well their features separate classes, best first: those
// trained without labels, those trained on captions, then by their publishers' ImageNet accuracy. The recall@1 on
// CUB-200 of four of them was measured here: MobileNetV2 .528, GoogLeNet .481, SqueezeNet .437, and the cut ResNet-50
// .292.
var merits = []merit{
	{"learned without labels", []string{"dinov2-base-registers", "dinov2-base", "dinov3-small", "dinov2-small"}},
	{"learned from captions", []string{"siglip2-base", "clip-vit-b-32"}},
	{"ImageNet accuracy", []string{"vit-b-16", "efficientnet-lite4-11", "resnet152-v2-7", "resnet101-v2-7",
		"resnet152-v1-7", "resnet101-v1-7", "resnet50", "resnet50-v2-7", "resnet50-v1-12", "resnet34",
		"resnet34-v1-7", "resnet34-v2-7", "bn-inception", "inception-v2-9"}},
	{"birds: recall@1 .528", []string{"mobilenetv2-features"}},
	{"ImageNet accuracy", []string{"mobilenetv2-7", "mobilenetv2", "resnet18", "resnet18-v1-7", "resnet18-v2-7"}},
	{"birds: recall@1 .481", []string{"googlenet-bvlc"}},
	{"ImageNet accuracy", []string{"googlenet-7", "googlenet"}},
	{"birds: recall@1 .437", []string{"squeezenet1.1"}},
	{"ImageNet accuracy", []string{"squeezenet1.1-7", "squeezenet"}},
	{"birds: recall@1 .292", []string{"resnet50v2-stage3-features"}},
}

// byQuality lists the names in merits.
var byQuality = func() (list []string) {
	for _, m := range merits {
		list = append(list, m.names...)
	}
	return list
}()

// meritOf returns why a known backbone has its place; for others, whose they are.
func (r *Registry) meritOf(e Entry) string {
	at := slices.IndexFunc(merits, func(m merit) bool { return slices.Contains(m.names, e.Name) })
	switch {
	case at >= 0:
		return merits[at].why
	case !r.Own(e.Name):
		return "for drawn characters"
	}
	return "yours"
}

// entryRank returns where an entry stands in the list: known backbones for photographs from the best on, then those for
// other images, then the user's own.
func (r *Registry) entryRank(e Entry) int {
	switch at := slices.Index(byQuality, e.Name); {
	case at >= 0:
		return at
	case !r.Own(e.Name):
		return len(byQuality)
	}
	return len(byQuality) + 1
}

// Choose returns the backbone for photographs if the user names none, and the reason: the best of the known ones whose
// files exist, else the last one that the user added under a name of its own. ok is false if there is none. It never
// chooses the compiled-in backbone, which is for drawn characters, or networks with random weights.
func (r *Registry) Choose() (name, why string, ok bool) {
	best, own, n := len(byQuality), []Listed(nil), 0
	for _, m := range r.List() {
		if !m.Found || m.Path == "" {
			continue
		}
		n++
		if at := slices.Index(byQuality, m.Name); at >= 0 {
			best = min(best, at)
		} else {
			own = append(own, m)
		}
	}
	if best < len(byQuality) {
		name, why = byQuality[best], fmt.Sprintf("the best known of %d backbones installed", n)
	}
	for _, m := range slices.Backward(own) { // a file is read only if it may be the chosen one
		if name == "" && !isRandomFile(m.Path) {
			name, why = m.Name, fmt.Sprintf("the one added last of %d backbones installed", n)
		}
	}
	if n == 1 {
		why = "the only backbone installed"
	}
	return name, why, name != ""
}

// Missing returns the backbone that the user added last, if its file is not where it was and no known one is chosen.
func (r *Registry) Missing() (Entry, bool) {
	if name, _, _ := r.Choose(); len(r.user) == 0 || slices.Contains(byQuality, name) {
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
