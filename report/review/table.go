package review

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/datasets/location"
)

// Kinds of findings about an image.
const (
	suspect = "suspect" // its label is flagged, or contradicts that of a duplicate and neither is likelier
	outlier = "outlier" // it fits no class
	copied  = "copy"    // it has a duplicate with another label
	grouped = "group"   // it has duplicates with any label
	faulty  = "problem" // the image file has a problem
)

var kindNames = []string{suspect, outlier, copied, grouped, faulty}

// entry is an image of the manifest with its row of the audit. For an image that is not in the audit, the embedded
// Suspect holds only the path and the labels.
type entry struct {
	suspects.Suspect
	sample  int    // position in the manifest
	split   string // one split or several, such as "train and test"
	audited bool
}

// isOfKind reports whether the audit found something of this kind about the image.
func (e *entry) isOfKind(kind string) bool {
	switch kind {
	case suspect:
		return e.Flagged || e.CopyVerdict == suspects.Look
	case outlier:
		return e.Outlier
	case copied:
		return len(e.Copies) > 0
	case grouped:
		return e.CopyGroup > 0
	}
	return kind == faulty && len(e.Problems) > 0
}

// table is a manifest joined to its audit. An image's id is its index in images, which contains first the images of the
// audit, most suspect first, and then the others in the manifest's order.
type table struct {
	manifest *datasets.Dataset
	classes  []string        // the manifest's classes, then other labels of the audit and the decisions
	isClass  map[string]bool // set of classes
	sum      string          // hash of the audit's paths and labels

	images   []entry
	audited  int            // number of images in the audit
	id       map[string]int // ids by path
	place    []int          // ids in the manifest's order
	splits   []sessionSplit
	kinds    map[string]int          // number of images of each kind
	orders   map[string]func() []int // all ids by name of the order, sorted on first use
	groups   map[int][]int           // ids of each group of duplicates
	findings map[string][]finding    // findings by kind
	drawn    bool                    // the images were drawn at random
	changed  int                     // number of audit rows edited since they were written
	moved    int                     // number of audit rows of images that were moved to their fixed folders since
}

// none is the id of no image.
const none = -1

// Audit is an audit's list joined to its manifest.
type Audit struct{ table *table }

// ReadAudit reads an audit's list and joins it to the audited manifest.
func ReadAudit(auditFile string, manifestFile location.Source, d *datasets.Dataset) (*Audit, error) {
	each := func(yield func(suspects.Suspect) error) (bool, error) { return suspects.Each(auditFile, yield) }
	t, err := newTable(d, each, auditFile, manifestFile)
	return &Audit{t}, err
}

// noAudit returns a manifest without an audit.
func noAudit(manifestFile location.Source, d *datasets.Dataset) (*Audit, error) {
	nothing := func(func(suspects.Suspect) error) (bool, error) { return false, nil }
	t, err := newTable(d, nothing, "", manifestFile)
	return &Audit{t}, err
}

// newTable joins an audit to the audited manifest. It returns an error if they do not match. each yields the rows of
// the audit and reports whether the audit has a column of flags.
func newTable(d *datasets.Dataset, each func(yield func(suspects.Suspect) error) (calls bool, err error),
	auditFile string, manifestFile location.Source) (*table, error) {
	d.JoinSplits()
	t := &table{manifest: d, classes: slices.Clone(d.Classes), isClass: map[string]bool{}, id: map[string]int{},
		kinds: map[string]int{}, groups: map[int][]int{}}
	for _, name := range t.classes {
		t.isClass[name] = true
	}
	sample, splits := map[string]int{}, make([]string, len(d.Samples))
	for i, s := range d.Samples {
		sample[s.Path], splits[i] = i, s.Split
	}
	for _, r := range d.Repeats {
		if was := splits[r.Of]; !slices.Contains(strings.Split(was, splitsJoined), r.Sample.Split) {
			splits[r.Of] = was + splitsJoined + r.Sample.Split
		}
	}
	seen := map[int]bool{}
	moved := sync.OnceValue(func() map[string]bool {
		if manifestFile.IsRemote() || !d.IsClassFolders() {
			return nil
		}
		return datasets.MovedImages(manifestFile.Path())
	})
	calls, err := each(func(e suspects.Suspect) error {
		i, ok := sample[e.Path]
		switch {
		case (!ok || d.LabelName(d.Samples[i]) != e.Given) && moved()[e.Path]:
			t.moved++ // its label was fixed since
			return nil
		case !ok:
			return mismatch(auditFile, e.Path, "is not in", manifestFile)
		case seen[i] && splits[i] != d.Samples[i].Split:
			return nil // its row in another split
		case seen[i]:
			return mismatch(auditFile, e.Path, "appears twice in the audit of", manifestFile)
		case d.Samples[i].Label == datasets.Unlabelled || d.LabelName(d.Samples[i]) != e.Given:
			what := fmt.Sprintf("had the label %q when it was audited, which is not its label in", e.Given)
			return mismatch(auditFile, e.Path, what, manifestFile)
		}
		seen[i] = true
		if e.Changed {
			t.changed++
		}
		t.addClass(e.Suggested)
		t.images = append(t.images, entry{e, i, splits[i], true})
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.audited = len(t.images)
	t.sortByRank()
	t.sum = t.sumOf()
	if !calls {
		t.markSuspects()
	}
	for i, s := range d.Samples {
		if !seen[i] {
			label := d.LabelName(s)
			e := suspects.Suspect{Path: s.Path, Given: label, Suggested: label}
			t.images = append(t.images, entry{e, i, splits[i], false})
		}
	}
	t.indexImages()
	t.gatherFindings()
	return t, nil
}

func mismatch(auditFile, path, what string, manifestFile location.Source) error {
	return fmt.Errorf("review: %s: image %q: %s %s: run the audit again, or use the manifest that was audited",
		auditFile, path, what, manifestFile)
}

// splitsJoined joins the names of the splits of an image that is in several splits.
const splitsJoined = " and "

// sortByRank sorts the images by rank. If the audit has no ranks, it sorts them by score and sets the ranks.
func (t *table) sortByRank() {
	ranked := t.audited > 0 && t.images[0].Rank > 0
	slices.SortStableFunc(t.images, func(a, b entry) int {
		if ranked {
			return cmp.Compare(a.Rank, b.Rank)
		}
		return cmp.Compare(a.Score, b.Score)
	})
	for id := range t.images {
		if !ranked {
			t.images[id].Rank = id + 1
		}
	}
}

// sumOf returns a hash of the audit's paths and labels in order, which identifies the audit.
func (t *table) sumOf() string {
	h := sha256.New()
	for i := range t.images {
		e, line := &t.images[i], []byte(nil)
		for _, text := range []string{e.Path, e.Given, e.Suggested} {
			line = append(binary.AppendUvarint(line, uint64(len(text))), text...)
		}
		_, _ = h.Write(line) // never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

// markSuspects selects the suspects if the audit does not report which labels are flagged, as in lists of some other
// tools. It flags all images with another suggested label or, if there are no such images, all images.
func (t *table) markSuspects() {
	other := slices.ContainsFunc(t.images, func(e entry) bool { return e.Given != e.Suggested })
	for i := range t.images {
		if e := &t.images[i]; !other || e.Given != e.Suggested {
			e.Flagged = true
		}
	}
}

// indexImages computes the counts, groups and orders that requests need.
func (t *table) indexImages() {
	t.place = make([]int, len(t.images))
	sizes := map[string]int{}
	for id := range t.images {
		e := &t.images[id]
		t.id[e.Path], t.place[e.sample] = id, id
		for _, kind := range kindNames {
			if e.isOfKind(kind) {
				t.kinds[kind]++
			}
		}
		if e.CopyGroup > 0 {
			t.groups[e.CopyGroup] = append(t.groups[e.CopyGroup], id)
		}
	}
	for _, id := range t.place {
		split := t.images[id].split
		at := slices.IndexFunc(t.splits, func(s sessionSplit) bool { return s.Name == split })
		if sizes[split]++; at < 0 {
			at, t.splits = len(t.splits), append(t.splits, sessionSplit{Name: split})
		}
		t.splits[at].Images = sizes[split]
	}
	sorted := func(compare func(a, b *entry) int) func() []int {
		return sync.OnceValue(func() []int {
			ids := make([]int, len(t.images))
			for id := range ids {
				ids[id] = id
			}
			slices.SortStableFunc(ids, func(a, b int) int { return compare(&t.images[a], &t.images[b]) })
			return ids
		})
	}
	scoreOf := func(e *entry) float64 {
		if !e.audited {
			return math.Inf(1) // last
		}
		return e.Score
	}
	suspicion := sorted(func(a, b *entry) int { return cmp.Compare(scoreOf(a), scoreOf(b)) })
	t.orders = map[string]func() []int{
		"": sorted(func(*entry, *entry) int { return 0 }), "suspect": suspicion,
		"least": sync.OnceValue(func() []int {
			ids := slices.Clone(suspicion())
			slices.Reverse(ids)
			return ids
		}),
		"class": sorted(func(a, b *entry) int {
			if (a.Given == "") != (b.Given == "") { // images without a label are last
				return -cmp.Compare(a.Given, b.Given)
			}
			return cmp.Compare(a.Given, b.Given)
		}),
		"path":     sorted(func(a, b *entry) int { return strings.Compare(a.Path, b.Path) }),
		"manifest": func() []int { return t.place },
	}
}

// addClass adds a label to the classes, unless it is already a class.
func (t *table) addClass(name string) {
	if !t.isClass[name] {
		t.isClass[name], t.classes = true, append(t.classes, name)
	}
}

// listFirstPaths returns the paths of the first images, at most n.
func (a *Audit) listFirstPaths(n int) (paths []string) {
	for _, e := range a.table.images[:min(n, len(a.table.images))] {
		paths = append(paths, e.Path)
	}
	return paths
}

// key returns the image's key for URLs: its position in the manifest.
func (e *entry) key() string { return strconv.Itoa(e.sample) }

// findKey returns the id of the image with a key, or none.
func (t *table) findKey(key string) int {
	v, err := strconv.ParseUint(key, 10, 31)
	if err != nil || v >= uint64(len(t.place)) || t.images[t.place[v]].key() != key {
		return none
	}
	return t.place[v]
}
