package review

import (
	"fmt"
	"slices"
	"strings"

	"winnow/datasets"
	"winnow/report/review/decisions"
)

// tagColumn is the column of tags in what is exported.
const tagColumn = "tags"

// mostTagNames is the largest number of different tags.
const mostTagNames = 500

// tagCount is a tag and the number of images that have it, as JSON.
type tagCount struct {
	Name   string `json:"name"`
	Images int    `json:"images"`
}

// replaceTags replaces the tags of an image.
func (d *decided) replaceTags(image int32, list []string) {
	for _, tag := range d.tags[image] {
		if d.tagged[tag]--; d.tagged[tag] == 0 {
			delete(d.tagged, tag)
		}
	}
	if len(list) == 0 {
		delete(d.tags, image)
		return
	}
	d.tags[image] = list
	for _, tag := range list {
		d.tagged[tag]++
	}
}

// tagsOf returns the tags of an image, never nil.
func (d *decided) tagsOf(image int32) []string {
	if list := d.tags[image]; list != nil {
		return list
	}
	return []string{}
}

// tagCounts returns all tags in the order of their names.
func (d *decided) tagCounts() []tagCount {
	list := []tagCount{}
	for tag, n := range d.tagged {
		list = append(list, tagCount{tag, n})
	}
	slices.SortFunc(list, func(a, b tagCount) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// withTag reports for each image of the manifest whether it has a tag.
func (d *decided) withTag(tag string) []bool {
	has := make([]bool, len(d.action))
	for image, list := range d.tags {
		if slices.Contains(list, tag) {
			has[image] = true
		}
	}
	return has
}

// checkTags checks the tags that a request gives and takes.
func (d *decided) checkTags(give, take []string) error {
	for _, tag := range slices.Concat(give, take) {
		if err := decisions.CheckTag(tag); err != nil {
			return err
		}
	}
	if len(give)+len(take) > decisions.MostTags {
		return fmt.Errorf("found %d tags, expected at most %d", len(give)+len(take), decisions.MostTags)
	}
	for i, tag := range give {
		switch {
		case slices.Contains(take, tag) || slices.Contains(give[:i], tag):
			return fmt.Errorf("the tag %q is named twice", tag)
		case d.tagged[tag] == 0 && len(d.tagged) >= mostTagNames:
			return fmt.Errorf("the tag %q is new, and there are %d already, the most possible: use one of them", tag,
				mostTagNames)
		}
	}
	return nil
}

// tagList returns the column of the tags to export, or nothing if no image has one. The column is winnow_tags where the
// manifest has one of its own called tags.
func (r *Reviewer) tagList() []datasets.Column {
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	if len(r.decided.tags) == 0 {
		return nil
	}
	c := datasets.Column{Name: tagColumn, Cells: map[int]string{}}
	if slices.ContainsFunc(r.Manifest.Columns, func(name string) bool { return strings.EqualFold(name, tagColumn) }) {
		c.Name = "winnow_" + tagColumn
	}
	for image, list := range r.decided.tags {
		c.Cells[int(image)] = joinTags(list)
	}
	return []datasets.Column{c}
}

// joinTags returns tags as one cell.
func joinTags(list []string) string { return strings.Join(list, decisions.TagMark) }

// correctManifest returns the manifest with the decisions and the tags.
func (r *Reviewer) correctManifest() (*datasets.Dataset, Exported, error) {
	do, e := r.collectCorrections()
	fixed, _, err := datasets.Apply(r.Manifest.With(r.tagList()...), do)
	return fixed, e, err
}
