package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"winnow/audit/suspects"
)

// Shown is an entry of a gallery: an image or a group of duplicates, and why it is listed.
type Shown struct {
	Paths, Labels []string // of one image, or of all images of a group of duplicates
	Tags          []string // short descriptions such as "in two splits"
	Why           string
}

// Gallery is a kind of finding other than label errors, with all its images.
type Gallery struct {
	Title, Note string
	Shown       []Shown
}

// Galleries returns the findings to show as images. It leaves out empty galleries.
func (a *Report) Galleries() (list []Gallery) {
	for _, g := range []Gallery{
		{"Duplicates", "Images of the same content, perhaps scaled, mirrored, slightly cropped or saved " +
			"again. Labels that contradict each other come first, then duplicates in two splits.", a.shownCopies()},
		{"Outliers", "Images that are far from all but a few others, whatever their labels: they fit no class. " +
			"The farthest come first.", a.shownStrangers()},
		{"Images with problems", "Measured when the images were read. A problem in more than 10 % of the images " +
			"counts as normal and is not listed.", a.shownProblems()},
	} {
		if len(g.Shown) > 0 {
			list = append(list, g)
		}
	}
	return list
}

func (a *Report) shownCopies() (list []Shown) {
	suggested, verdicts := map[int]string{}, map[int]suspects.Verdict{}
	for _, e := range a.Images {
		switch {
		case e.CopyVerdict == "" || verdicts[e.CopyGroup] == suspects.Look:
		case e.CopyVerdict == suspects.Kept:
			suggested[e.CopyGroup] = e.Given
			fallthrough
		default:
			verdicts[e.CopyGroup] = e.CopyVerdict
		}
	}
	weight := func(s Shown) int { return len(s.Tags) }
	for g, group := range a.Groups {
		s := Shown{Paths: group.Paths, Labels: group.Labels, Why: "the same label"}
		switch v := verdicts[g+1]; {
		case v == suspects.Look:
			s.Tags, s.Why = []string{"labels contradict", "look"}, "no label is clearly likelier: decide by eye"
		case v != "" && suggested[g+1] != "":
			s.Tags, s.Why = []string{"labels contradict"}, fmt.Sprintf("%s is likelier", a.Names.Of(suggested[g+1]))
		case group.LabelsVary:
			s.Tags, s.Why = []string{"labels contradict"}, "one of the labels is wrong"
		}
		if group.Leak {
			s.Tags = append(s.Tags, "in two splits")
		}
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(x, y Shown) int { return cmp.Compare(weight(y), weight(x)) })
	return list
}

func (a *Report) shownStrangers() (list []Shown) {
	var all []suspects.Suspect
	for _, e := range a.Images {
		if e.Outlier {
			all = append(all, e)
		}
	}
	fit := func(e suspects.Suspect) float64 {
		if e.Fit == nil {
			return 0
		}
		return *e.Fit
	}
	slices.SortStableFunc(all, func(x, y suspects.Suspect) int { return cmp.Compare(fit(x), fit(y)) })
	for _, e := range all {
		s := Shown{Paths: []string{e.Path}, Labels: []string{e.Given}}
		if e.Fit != nil {
			s.Why = fmt.Sprintf("fit %.1f", *e.Fit)
		}
		list = append(list, s)
	}
	return list
}

func (a *Report) shownProblems() (list []Shown) {
	for _, e := range a.Images {
		if len(e.Problems) == 0 {
			continue
		}
		s := Shown{Paths: []string{e.Path}, Labels: []string{e.Given}}
		var why []string
		for _, p := range e.Problems {
			s.Tags, why = append(s.Tags, p.Kind), append(why, p.Why)
		}
		s.Why = strings.Join(why, "; ")
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(x, y Shown) int { return cmp.Compare(x.Tags[0], y.Tags[0]) })
	return list
}
