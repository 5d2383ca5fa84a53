package review

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/datasets/location"
)

// kind is a set of reasons to look at an image.
type kind uint8

const (
	suspect kind = 1 << iota // its label is called wrong
	outlier                  // it fits no class
	copied                   // it has a near copy with another label
	grouped                  // it has copies, of any label
	faulty                   // the picture has a problem
)

// saying says what an image's scores are.
type saying uint8

const (
	ofGiven     saying = 1 << iota // the score of the given label is a probability
	ofSuggested                    // the score of the suggested label is a probability
	unjudged                       // the image is alone in its class: its scores mean nothing
)

var kindNames = []struct {
	kind kind
	name string
}{{suspect, "suspect"}, {outlier, "outlier"}, {copied, "copy"}, {grouped, "group"}, {faulty, "problem"}}

// none stands for no image, no class and no pair.
const none = -1

// entry is a suspects.Suspect in a tenth of its memory: paths are rows of the manifest, labels are numbers of classes.
type entry struct {
	image, rank        int32
	given, suggested   int32
	pair               int32   // position in pairs of its labels; none if it is not a suspect
	near               uint32  // start of its lists in the table's near
	score, better, fit float64 // better is the suggested label's score; NaN: unknown
	counts             [3]uint8
	kinds              kind
	said               saying
}

// listNeighbours returns an image's neighbours with the given label, those with the suggested one, and its copies with
// other labels.
func (t *table) listNeighbours(e *entry) (given, suggested, copies []int32) {
	near := t.near[e.near:]
	list := func(n uint8) (list []int32) {
		list, near = near[:n], near[n:]
		return list
	}
	return list(e.counts[0]), list(e.counts[1]), list(e.counts[2])
}

// table is a manifest and its audit in memory. Images are rows of the manifest, labels are numbers of classes. Each
// image has an id: first come the images of the audit, in its order from 0, then the others in the manifest's order.
type table struct {
	manifest *datasets.Dataset
	classes  []string // the manifest's classes, then labels found only in the audit or the decisions
	classOf  map[string]int32
	row      map[string]int32 // row of the manifest by path
	sum      string           // hash of the audit's paths and labels

	all     []entry        // by id
	list    []entry        // the images of the audit, most suspect first: the beginning of all
	near    []int32        // the lists of all entries
	id      []int32        // id of each image of the manifest; none: not in the audit
	place   []int32        // id of each image of the manifest
	at      [][]int32      // ids of each given class
	audited []int32        // how many of these are in the audit
	names   []int32        // classes in the order of their names
	splits  []string       // in the order of their first images
	byPath  func() []int32 // all ids in the order of their paths, sorted on first use
	pairs   []confusion    // all confusions of suspects
	images  []int32        // number of images of each class in the manifest
	members []int32        // number of suspects of each class
	byKind  map[string]int
	drawn   bool // the images were drawn at random
	changed int  // rows of the list that are not as they were written
	known   bool // the audit knows how many labels are wrong in all

	findings map[string][]finding // by kind

	groups   map[int][]int32              // images of each group of copies
	groupOf  map[int32]int                // of each image that has copies
	problems map[int32][]suspects.Problem // of the pictures of images that have some
	verdicts map[int32]suspects.Verdict   // of images whose copies have other labels
	joined   map[int32]string             // the splits of images that are in several

	// What filters often look at, by id: small, and read in any order.
	kinds  []kind
	given  []int32
	image  []int32
	split  []uint8 // positions in splits
	sizes  []int   // images of each split
	labels int     // images with a label
}

// confusion is a given label and the label suggested instead.
type confusion struct {
	given, suggested int32
	suspects         int32
}

// Audit is the list of an audit, joined to its manifest.
type Audit struct{ table *table }

// ReadAudit joins an audit's file to the audited manifest, row by row; the list is never in memory as a whole.
func ReadAudit(auditFile string, manifestFile location.Source, d *datasets.Dataset) (*Audit, error) {
	each := func(yield func(suspects.Suspect) error) (bool, error) { return suspects.Each(auditFile, yield) }
	t, err := newTable(d, each, auditFile, manifestFile)
	if err != nil {
		return nil, err
	}
	return &Audit{t}, nil
}

// noAudit returns a manifest without an audit.
func noAudit(manifestFile location.Source, d *datasets.Dataset) (*Audit, error) {
	nothing := func(func(suspects.Suspect) error) (bool, error) { return false, nil }
	t, err := newTable(d, nothing, "", manifestFile)
	if err != nil {
		return nil, err
	}
	return &Audit{t}, nil
}

// listFirstPaths returns the paths of the n most suspect images, without an audit of the manifest's first ones, or of
// all if there are fewer.
func (a *Audit) listFirstPaths(n int) []string {
	from := a.table.list
	if len(from) == 0 {
		from = a.table.all
	}
	paths := make([]string, min(n, len(from)))
	for id := range paths {
		paths[id] = a.table.getImagePath(from[id].image)
	}
	return paths
}

// newTable joins an audit to the audited manifest. Both are the user's files, so a mismatch is an error.
func newTable(d *datasets.Dataset, each func(yield func(suspects.Suspect) error) (calls bool, err error),
	auditFile string, manifestFile location.Source) (*table, error) {
	d.JoinSplits()
	row := make(map[string]int32, len(d.Samples))
	for i := range d.Samples {
		row[d.Samples[i].Path] = int32(i)
	}
	t := &table{
		manifest: d, classes: slices.Clone(d.Classes), classOf: map[string]int32{},
		row: row, byKind: map[string]int{},
		groups: map[int][]int32{}, groupOf: map[int32]int{}, problems: map[int32][]suspects.Problem{},
		verdicts: map[int32]suspects.Verdict{}, joined: map[int32]string{},
	}
	for i, name := range t.classes {
		t.classOf[name] = int32(i)
	}
	t.id = slices.Repeat([]int32{none}, len(d.Samples))
	for _, r := range d.Repeats {
		if was := t.splitOf(int32(r.Of)); !slices.Contains(strings.Split(was, splitsJoined), r.Sample.Split) {
			t.joined[int32(r.Of)] = was + splitsJoined + r.Sample.Split
		}
	}
	calls, err := each(func(e suspects.Suspect) error {
		if e.Changed {
			t.changed++
		}
		if err := t.addSuspect(&e); err != nil {
			return fmt.Errorf("review: %s: image %q: %w %s: "+
				"audit that manifest again, or name the one that was audited", auditFile, e.Path, err, manifestFile)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.sortByRank()
	t.completeImages()
	t.sum = t.sumOf()
	if !calls {
		t.markSuspects()
	}
	t.indexImages()
	t.gatherFindings()
	return t, nil
}

// splitsJoined stands between the splits of an image that is in several.
const splitsJoined = " and "

// splitOf returns the split of an image, or its splits, such as "train and test".
func (t *table) splitOf(image int32) string {
	return cmp.Or(t.joined[image], t.manifest.Samples[image].Split)
}

// sumOf returns a hash of the paths and labels in order, which distinguishes audits.
func (t *table) sumOf() string {
	h, line := sha256.New(), []byte(nil)
	for _, e := range t.list {
		line = line[:0]
		for _, text := range []string{t.getImagePath(e.image), t.classes[e.given], t.classes[e.suggested]} {
			line = append(binary.AppendUvarint(line, uint64(len(text))), text...)
		}
		_, _ = h.Write(line) // never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

// mostNear is the largest number of neighbours of each kind: of a thousand black pictures each is a copy of all
// others.
const mostNear = 64

// addSuspect adds an entry. Neighbours that are not in the manifest cannot be shown and are left out.
func (t *table) addSuspect(e *suspects.Suspect) error {
	image, ok := t.row[e.Path]
	if !ok {
		return fmt.Errorf("is not in")
	}
	if s := t.manifest.Samples[image].Split; t.id[image] != none && t.splitOf(image) != s {
		return nil // its row in another split
	} else if t.id[image] != none {
		return fmt.Errorf("appears twice in the audit of")
	}
	if given := t.manifest.Samples[image].Label; given == datasets.Unlabelled || t.classes[given] != e.Given {
		return fmt.Errorf("had the label %q when it was audited, which is not its label in", e.Given)
	}
	t.id[image], t.known = int32(len(t.list)), t.known || e.RateKnown
	at := entry{
		image: image, rank: int32(e.Rank), given: t.classOf[e.Given], suggested: t.numberClass(e.Suggested), pair: none,
		near: uint32(len(t.near)), score: e.Score, better: orNaN(e.SuggestedScore), fit: orNaN(e.Fit),
	}
	if e.Dropped {
		at.kinds |= suspect
	}
	if e.Outlier {
		at.kinds |= outlier
	}
	if len(e.Copies) > 0 {
		at.kinds |= copied
	}
	if e.CopyGroup > 0 {
		at.kinds |= grouped
		t.groupOf[image] = e.CopyGroup
		t.groups[e.CopyGroup] = append(t.groups[e.CopyGroup], image)
	}
	if len(e.Problems) > 0 {
		at.kinds |= faulty
		kept := slices.Clone(e.Problems)
		for i, p := range kept {
			kept[i] = suspects.Problem{Kind: strings.Clone(p.Kind), Why: strings.Clone(p.Why)}
		}
		t.problems[image] = kept
	}
	if e.GivenProbability != nil {
		at.said |= ofGiven
	}
	if e.SuggestedProbability != nil {
		at.said |= ofSuggested
	}
	if e.Unjudged {
		at.said |= unjudged
	}
	if e.CopyVerdict != "" {
		t.verdicts[image] = suspects.Verdict(strings.Clone(string(e.CopyVerdict)))
	}
	add := func(list int, path string) {
		if image, ok := t.row[path]; ok && image != at.image { // as an image that is in another split, too
			t.near = append(t.near, image)
			at.counts[list]++
		}
	}
	for i, list := range [][]suspects.Near{e.SupportGiven, e.SupportSuggested} {
		for _, n := range list[:min(mostNear, len(list))] {
			add(i, n.Path)
		}
	}
	for _, c := range e.Copies[:min(mostNear, len(e.Copies))] {
		add(2, c.Path)
	}
	t.list = append(t.list, at)
	return nil
}

// numberClass returns the number of a label; a new label gets a new number.
func (t *table) numberClass(name string) int32 {
	if c, ok := t.classOf[name]; ok {
		return c
	}
	name = strings.Clone(name)
	c := int32(len(t.classes))
	t.classes, t.classOf[name] = append(t.classes, name), c
	return c
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
