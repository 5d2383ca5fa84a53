package reference

import (
	"compress/bzip2"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
)

// rooms maps each method of the golden set to the package whose tests check it. A method that is missing here fails the
// tests of every package that reads its topic.
var rooms = map[string]map[string]string{
	"losses_pair": in("losses", "contrastive_pml contrastive_prism memory_contrastive multi_similarity circle fastap "+
		"snr_contrastive npairs ntxent supcon scl_rhe"),
	"losses_triplet": in("losses", "triplet triplet_batch_hard triplet_indices margin unhinged_triplet "+
		"unhinged_marginal "+
		"auxiliary_pair marginal_pairs rdml quadruplet adapted_triplet adapted_match_only semi_match"),
	"losses_proxy": in("losses", "proxy_nca proxy_anchor soft_triple norm_softmax linear_cross_entropy"),
	"miners": in("losses", "ms_miner triplet_margin_miner batch_hard random_semihard fixed_semihard facenet_semihard "+
		"distance_weighted"),
	"prism": in("filters", "vmf_log_normalizer kappa pclean thresholds fifo prism_trace ema"),
	"bspml": merge(in("losses", "weighted_ms"),
		in("filters/selfpaced", "bspml_objective bspml_algorithm3 maw_sdaw lambda_schedule spl_hard")),
	"classification_baselines": in("train/peers",
		"coteaching coteaching_plus coteaching_schedule coteaching_adam_plan "+
			"forward_correction transition estimate_T temperature_logits"),
	"detectors": in("train/selective", "selcl_selection tcl_detect"),
	"metrics":   in("eval", "retrieval clustering kmeans nearest_class_mean noise_detection linear_probe"),
	"optim":     in("train", "sgd adam adamw rmsprop sgd+cosine cosine_lr multistep_lr supcon_lr"),
	"theory": in("papers/theory", "pair_noise unhinged_bound triplet_bound marginal_bound inverse_pair_noise "+
		"one_to_one_weights "+
		"fp_fn triplet_cases"),
	"noise": in("datasets", "bspml_noise small_cluster_stop human_like reference_statistics"),
}

func in(room, methods string) map[string]string {
	out := map[string]string{}
	for _, m := range strings.Fields(methods) {
		out[m] = room
	}
	return out
}

func merge(a, b map[string]string) map[string]string {
	maps.Copy(a, b)
	return a
}

// Checks maps methods to a package's tests of golden cases.
type Checks map[string]func(t *testing.T, c Case)

// ran counts the cases that Check has run in this package's tests, by topic and method.
var (
	ranLock sync.Mutex
	ran     = map[string]map[string]int{}
)

// Check runs every case of a topic that belongs to this package as a subtest. An unknown method is an error, and so is
// a method of this package without a check. The public set must have a case of each method; another set
// ($WINNOW_GOLDEN) may have fewer.
func Check(t *testing.T, topic string, checks Checks) {
	t.Helper()
	room := here(t)
	for method := range checks {
		if rooms[topic][method] != room {
			t.Errorf("reference: %s: method %q is checked in %s, but belongs to %q", topic, method, room,
				rooms[topic][method])
		}
	}
	count, reported := map[string]int{}, map[string]bool{}
	for _, c := range Golden(t, topic) {
		owner, known := rooms[topic][c.Method]
		check, ok := checks[c.Method]
		if (!known || owner == room && !ok) && reported[c.Method] {
			continue
		}
		reported[c.Method] = true
		switch {
		case !known:
			t.Errorf("reference: %s: case %q: method %q is not known", topic, c.Name, c.Method)
		case owner != room:
		case !ok:
			t.Errorf("reference: %s: case %q: method %q has no check in %s", topic, c.Name, c.Method, room)
		default:
			count[c.Method]++
			t.Run(c.Method+"/"+c.Name, func(t *testing.T) { check(t, c) })
		}
	}
	for method := range checks {
		if count[method] == 0 && os.Getenv("WINNOW_GOLDEN") == "" {
			t.Errorf("reference: %s: no case of method %q", topic, method)
		}
	}
	ranLock.Lock()
	defer ranLock.Unlock()
	ran[topic] = count
}

// here returns the folder of the running package within the module: "losses", "train/peers".
func here(t testing.TB) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	room, err := filepath.Rel(Root(t), dir)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.ToSlash(room)
}

// Main is the TestMain of a package with golden checks. It runs the tests and prints a table of the cases.
func Main(m *testing.M) {
	code := m.Run()
	if len(ran) > 0 {
		fmt.Print(Table(ran))
	}
	os.Exit(code)
}

// Table formats how many cases of each topic and method were run.
func Table(ran map[string]map[string]int) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "golden cases\tran\tmethods")
	total := 0
	for _, topic := range slices.Sorted(maps.Keys(ran)) {
		var list []string
		sum := 0
		for _, method := range slices.Sorted(maps.Keys(ran[topic])) {
			list = append(list, fmt.Sprintf("%s %d", method, ran[topic][method]))
			sum += ran[topic][method]
		}
		total += sum
		fmt.Fprintf(w, "%s\t%d\t%s\n", topic, sum, strings.Join(list, ", "))
	}
	fmt.Fprintf(w, "all\t%d\t\n", total)
	w.Flush()
	return b.String()
}

// Golden reads the cases of one topic, such as "prism" or "losses_pair". If a folder given by $WINNOW_GOLDEN lacks the
// topic, the test is skipped.
func Golden(t testing.TB, topic string) []Case {
	t.Helper()
	folder := goldenFolder(t)
	data, err := fs.ReadFile(folder, topic+".json")
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("WINNOW_GOLDEN") != "" && len(topics(t, folder)) > 0 {
		t.Skipf("reference: %s holds no %s.json: this topic is not checked", os.Getenv("WINNOW_GOLDEN"), topic)
	}
	if err != nil {
		t.Fatalf("reference: %v", err)
	}
	var file struct {
		Cases []map[string]json.RawMessage
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatalf("reference: %s.json: %v", topic, err)
	}
	cases := make([]Case, len(file.Cases))
	for i, fields := range file.Cases {
		c := Case{Topic: topic, Fields: fields}
		for key, dst := range map[string]any{"name": &c.Name, "method": &c.Method, "params": &c.Params} {
			if raw, ok := fields[key]; ok {
				if err := json.Unmarshal(raw, dst); err != nil {
					t.Fatalf("reference: %s.json: case %d: %s: %v", topic, i, key, err)
				}
			}
		}
		cases[i] = c
	}
	return cases
}

// goldenFolder returns $WINNOW_GOLDEN, else ../shared/golden if it exists, else the committed copy.
func goldenFolder(t testing.TB) fs.FS {
	t.Helper()
	if folder := os.Getenv("WINNOW_GOLDEN"); folder != "" {
		return os.DirFS(folder)
	}
	if shared := sharedGolden(t); len(topics(t, shared)) > 0 {
		return shared
	}
	return committed{}
}

func sharedGolden(t testing.TB) fs.FS {
	return os.DirFS(filepath.Join(Root(t), "..", "shared", "golden"))
}

// topics lists the topics in a golden folder.
func topics(t testing.TB, folder fs.FS) []string {
	t.Helper()
	files, err := fs.Glob(folder, "*.json")
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range files {
		files[i] = strings.TrimSuffix(file, ".json")
	}
	return files
}

// committed is the copy in this package: golden/*.json.bz2, presented as *.json.
type committed struct{}

//go:embed golden/*.json.bz2
var packed embed.FS

// Open opens the decompressed text of a file.
func (committed) Open(name string) (fs.File, error) {
	f, err := packed.Open("golden/" + name + ".bz2")
	if err != nil {
		return nil, err
	}
	return unpacked{f, bzip2.NewReader(f)}, nil
}

// Glob lists the files of all topics; the pattern is always *.json.
func (committed) Glob(string) ([]string, error) {
	files, err := fs.Glob(packed, "golden/*.json.bz2")
	for i, file := range files {
		files[i] = strings.TrimSuffix(strings.TrimPrefix(file, "golden/"), ".bz2")
	}
	return files, err
}

// unpacked is a file that is decompressed as it is read.
type unpacked struct {
	fs.File
	text io.Reader
}

func (u unpacked) Read(b []byte) (int, error) { return u.text.Read(b) }
