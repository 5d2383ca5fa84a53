package published

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets"
	"winnow/internal/testing/memory"
	"winnow/internal/testing/reference"
)

// twentyLabels returns the content of the files in testdata: the classes 0 to 9 twice; aggre is wrong in every
// fifth place, worse in every second. The files were made by numpy 1.x and PyTorch 1.13: torch.save(d, "human.pt"),
// the same with _use_new_zipfile_serialization=False as human-old.pt, numpy.save("human.npy", d),
// numpy.save("worse.npy", d["worse_label"].astype(numpy.uint16)) and torch.save of a tensor.
func twentyLabels() labelTable {
	t := labelTable{}
	for i := range 20 {
		c := i % 10
		aggre, worse := c, c
		if i%5 == 0 {
			aggre = (c + 1) % 10
		}
		if i%2 == 0 {
			worse = (c + 3) % 10
		}
		for name, v := range map[string]int{"clean_label": c, "aggre_label": aggre, "worse_label": worse,
			"random_label1": c, "random_label2": c, "random_label3": (i + 19) % 20 % 10} {
			t[name] = append(t[name], v)
		}
	}
	return t
}

func testFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// npyFile makes a file in numpy's npy format.
func npyFile(kind, shape, body string) string {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n", kind, shape)
	return npyMagic + "\x01\x00" + string([]byte{byte(len(header)), 0}) + header + body
}

// labelCSV writes a table as CSV, as it is distributed.
func labelCSV(table labelTable) string {
	names := []string{"clean_label", "aggre_label", "worse_label", "random_label1", "random_label2", "random_label3"}
	text := "index," + strings.Join(names, ",") + "\n"
	for i := range table["clean_label"] {
		text += fmt.Sprint(i)
		for _, name := range names {
			text += fmt.Sprintf(",%d", table[name][i])
		}
		text += "\n"
	}
	return text
}

func gzipped(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.Bytes()
}

// TestReadLabelTable: every form gives the same table.
func TestReadLabelTable(t *testing.T) {
	want := twentyLabels()
	for name, data := range map[string][]byte{
		"human.pt": testFile(t, "human.pt"), "human-old.pt": testFile(t, "human-old.pt"),
		"human.npy": testFile(t, "human.npy"),
		"csv":       []byte(labelCSV(want)), "csv.gz": gzipped(labelCSV(want)),
	} {
		got, err := readLabelTable(data)
		delete(got, "index")
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	got, err := readLabelTable(testFile(t, "worse.npy"))
	if diff := cmp.Diff(labelTable{"": want["worse_label"]}, got); err != nil || diff != "" {
		t.Errorf("worse.npy: %v\n%s", err, diff)
	}
}

// TestReadLabelTableRefuses: truncated and foreign files give a readable error; nothing in a pickle is called.
func TestReadLabelTableRefuses(t *testing.T) {
	for _, name := range []string{"human.pt", "human-old.pt", "human.npy", "worse.npy"} {
		data := testFile(t, name)
		for _, n := range []int{len(data) / 4, len(data) / 2, len(data) - 1} {
			table, err := readLabelTable(data[:n])
			if err == nil && (name != "human-old.pt" || len(table) != 6) { // its last bytes end a list that is not used
				t.Errorf("%s cut to %d of %d bytes was read", name, n, len(data))
			}
		}
	}
	run := "\x80\x02cposix\nsystem\nX\x02\x00\x00\x00ls\x85R."
	for want, data := range map[string]string{
		`pickle calls posix.system, expected only numpy's arrays`: npyFile("|O", "", run),
		"pickle holds the operation 'Q'":                          string(testFile(t, "tensors.pt")),
		`row 2: label "x" is not an integer`:                      "label\nx\n",
		"expected a header with the names of label sets":          "",
		"wrong number of fields":                                  "a,b\n1\n",
		"is cut short":                                            npyMagic + "\x01\x00\xff\xff{'descr'",
		`elements are "<f8"`:                                      npyFile("<f8", "1,", "12345678"),
		"array of the shape (2, 2), expected one dimension":       npyFile("<i8", "2, 2", ""),
		"found 0 bytes of elements, expected 4611686018427387904": npyFile("<i8", "4611686018427387904,", ""),
	} {
		if _, err := readLabelTable([]byte(data)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
}

// cifarTen is CIFAR-10's binary version with 20 training and 10 test images.
func cifarTen() fstest.MapFS {
	record := func(class int) []byte { return append([]byte{byte(class)}, make([]byte, 3072)...) }
	var train, test []byte
	for i := range 20 {
		train = append(train, record(i%10)...)
	}
	for i := range 10 {
		test = append(test, record(i)...)
	}
	return fstest.MapFS{"data_batch_1.bin": {Data: train}, "test_batch.bin": {Data: test},
		"batches.meta.txt": {Data: []byte("airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n")}}
}

// imported reads a folder with a preset.
func imported(t *testing.T, preset string, fsys fs.FS, opts Options) *Result {
	t.Helper()
	p, err := Find(preset)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Dataset(fsys, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// names returns a sample's path, given and true label, split and other columns.
func names(d *datasets.Dataset, i int) string {
	name := func(id int) string {
		if id == datasets.Unlabelled {
			return "-"
		}
		return d.Classes[id]
	}
	s := d.Samples[i]
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", s.Path, name(s.Label), name(s.True), s.Split,
		strings.Join(s.Extra, " ")))
}

func TestCIFAR10N(t *testing.T) {
	folder := cifarTen()
	folder["CIFAR-10_human.pt"] = &fstest.MapFile{Data: testFile(t, "human.pt")}
	r := imported(t, "cifar10n", folder, Options{})
	if got, want := names(r.Dataset, 0), "train/00000.bmp automobile airplane train"; got != want {
		t.Errorf("found %q, expected %q", got, want)
	}
	if got, want := names(r.Dataset, 20), "test/00000.bmp airplane - test"; got != want {
		t.Errorf("found %q, expected %q", got, want)
	}
	if n := r.Dataset.Noise(datasets.Train); n.Samples != 20 || n.Corrupted != 4 {
		t.Errorf("found %+v, expected 4 of 20 labels wrong", n)
	}
	if want := "train: 4 of 20 labels are not CIFAR's (20.00 %), label set aggre"; len(r.Notes) != 1 ||
		r.Notes[0] != want {
		t.Errorf("notes %q, expected %q", r.Notes, want)
	}
	want := []string{"train: found 20 images, expected 50000 as published",
		"train: found 8 classes, expected 10 as published", "test: found 10 images, expected 10000 as published"}
	if diff := cmp.Diff(want, r.Warnings); diff != "" { // the fixture has no given labels 0 and 5
		t.Error(diff)
	}
	r = imported(t, "cifar10n", folder,
		Options{Human: "worse", Labels: &File{"mine.csv", []byte(labelCSV(twentyLabels()))}})
	if n := r.Dataset.Noise(datasets.Train); n.Corrupted != 10 {
		t.Errorf("found %+v, expected 10 of 20 labels wrong", n)
	}
	delete(folder, "CIFAR-10_human.pt")
	p, _ := Find("cifar10n")
	other := twentyLabels()
	other["clean_label"][3] = 9
	short := twentyLabels()
	for name := range short {
		short[name] = short[name][1:]
	}
	for want, opts := range map[string]Options{
		"found no CIFAR-10_human.pt or cifar10n.csv.gz or": {},
		"x: clean_label of image 3 is 9, CIFAR says 3: the images are in another order": {Labels: &File{"x",
			[]byte(labelCSV(other))}},
		"x: found 19 labels, expected 20: one for each training image": {Labels: &File{"x", []byte(labelCSV(short))}},
		"found the label sets a, expected aggre_label among them":      {Labels: &File{"x", []byte("a\n1\n")}},
		"x: label of image 0 is 10, which is not a class": {Labels: &File{"x",
			[]byte("aggre_label\n" + strings.Repeat("10\n", 20))}},
		"x: 90 % of the labels differ from CIFAR's, expected below half: the images are in anoth": {Labels: &File{"x",
			[]byte("aggre_label\n" + strings.Repeat("3\n", 20))}},
	} {
		if _, err := p.Dataset(folder, opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
}

// TestHumanLabelsReal: the shares of wrong labels in the published sets.
func TestHumanLabelsReal(t *testing.T) {
	for name, rates := range map[string]map[string]string{
		"cifar10n":  {"aggre": "9.01", "worse": "40.21", "random1": "17.23", "random2": "18.12", "random3": "17.64"},
		"cifar100n": {"noisy": "40.20"},
	} {
		data, err := os.ReadFile(reference.Asset(t, "data/"+name+".csv.gz"))
		if err != nil {
			t.Fatal(err)
		}
		table, err := readLabelTable(data)
		if err != nil {
			t.Fatal(err)
		}
		for set, rate := range rates {
			var samples []sample
			for _, class := range table["clean_label"] {
				samples = append(samples, sample{Class: class, Label: fmt.Sprint(class), Split: datasets.Train})
			}
			notes := []string{}
			if err := giveHuman(samples, table, Options{Human: set, notes: &notes}); err != nil {
				t.Fatal(err)
			}
			if want := "(" + rate + " %), label set " + set; len(notes) != 1 || !strings.HasSuffix(notes[0], want) {
				t.Errorf("%s: found %q, expected %q", name, notes, want)
			}
		}
	}
}

// mostMemory is more than any label table may make its reader allocate.
const mostMemory = 256 << 20

// TestPickleBombs: small pickles that would make a long error, many copies, or many empty values.
func TestPickleBombs(t *testing.T) {
	laughs := "\x80\x02X\x01\x00\x00\x00aq\x00"
	for i := range byte(24) { // a tuple of the previous value, twice
		laughs += string([]byte{'h', i, 'h', i, 0x86, 'q', i + 1})
	}
	for name, text := range map[string]string{
		"calls what is no function": laughs + ")R.",
		"a function's name": "\x80\x02" + "X\x00\x00\x10\x00" + strings.Repeat("a", 1<<20) + "q\x00" +
			strings.Repeat("h\x00h\x00\x930", 1<<16) + ".",
		"dictionaries": "\x80\x02" + strings.Repeat("}", 1<<20) + ".",
	} {
		t.Run(name, func(t *testing.T) {
			memory.Check(t, 40<<20, func() {
				if _, err := (&pickle{data: []byte(text)}).loadLabelTable(); err == nil || len(err.Error()) > 400 {
					t.Errorf("%.400v", err)
				}
			})
		})
	}
	if _, err := readLabelCSV([]byte(strings.Repeat("a,", 2000) + "a\n")); err == nil ||
		!strings.Contains(err.Error(), "more than 1000 columns") {
		t.Error(err)
	}
}

// FuzzLabelTable: any file gives a result or an error, and no more labels than bytes.
func FuzzLabelTable(f *testing.F) {
	for _, name := range []string{"human.pt", "human-old.pt", "human.npy", "worse.npy", "tensors.pt"} {
		f.Add(testFile(f, name))
	}
	f.Add([]byte("a,b\n1,2\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var table labelTable
		var err error
		memory.Check(t, mostMemory, func() { table, err = readLabelTable(data) })
		if err != nil {
			return
		}
		for name, labels := range table {
			if data[0] != 0x1f && data[0] != 'P' && len(labels) > len(data) {
				t.Errorf("%q: %d labels of %d bytes", name, len(labels), len(data))
			}
		}
	})
}

// FuzzPickle runs the stack machine itself.
func FuzzPickle(f *testing.F) {
	f.Add(testFile(f, "human.npy")[128:])
	f.Add(testFile(f, "human-old.pt"))
	f.Fuzz(func(t *testing.T, data []byte) {
		memory.Check(t, mostMemory, func() { _, _ = (&pickle{data: data}).loadLabelTable() })
	})
}
