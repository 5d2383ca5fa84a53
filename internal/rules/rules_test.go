// Package rules tests which room may know which (ARCHITECTURE.md, "The rooms").
package rules

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"winnow/internal/testing/reference"
)

// allowed lists, for each room, the rooms of winnow that its files (tests aside) may import.
// internal/atomicfile and internal/catalog are open to all. cmd/winnow wires and may import everything.
var allowed = map[string][]string{
	"datasets":                    {},
	"datasets/glyphs":             {"datasets"},
	"datasets/packed":             {},
	"datasets/mnist":              {"datasets", "datasets/packed"},
	"datasets/cifar":              {"datasets", "datasets/packed"},
	"datasets/matfile":            {},
	"datasets/imageroot":          {"datasets/cifar", "datasets/mnist"},
	"datasets/imagelist":          {"datasets", "datasets/imageroot"},
	"datasets/published":          {"datasets", "datasets/cifar", "datasets/matfile", "datasets/mnist"},
	"features":                    {},
	"graph":                       {},
	"graph/gradient":              {"graph"},
	"losses":                      {"features"},
	"filters":                     {"features"},
	"filters/detectors":           {"features", "internal/spread"},
	"filters/correction":          {"features", "filters"},
	"filters/leaveout":            {"features"},
	"filters/noiserate":           {"features", "filters", "filters/detectors", "filters/leaveout"},
	"filters/selfpaced":           {"features"},
	"papers/theory":               {},
	"papers/theory/concentration": {"filters"},
	"papers/theory/skew":          {"features", "losses", "papers/theory"},
	"head":                        {"features"},
	"train":                       {"features", "losses", "filters", "filters/correction", "filters/selfpaced", "head", "train/samples", "internal/spread"},
	"audit/crossfit":              {"train", "features", "filters/leaveout", "head", "losses"},
	"train/peers":                 {"train", "features", "head", "losses"},
	"train/samples":               {"features", "filters"},
	"train/selective":             {"train", "features", "head", "filters/detectors"},
	"backbone":                    {"datasets", "features", "graph", "backbone/jfif"},
	"backbone/jfif":               {},
	"backbone/ort":                {"backbone", "graph", "graph/gradient", "features"},
	"backbone/live":               {"backbone", "features", "graph", "graph/gradient", "head"},
	"report/chart":                {"internal/spread"},
	"eval":                        {"report/chart", "datasets", "features", "filters"},
	"report/atlas":                {},
	"run/comparison":              {"eval", "features", "head"},
	"audit/findings":              {"eval", "features", "filters", "filters/detectors", "filters/leaveout"},
	"audit/judges":                {"eval", "features", "filters/leaveout"},
	"papers/pairs":                {"features", "losses"},
	"audit/suspects":              {},
	"eval/tsne":                   {"eval", "features"},
	"models":                      {"backbone", "graph", "graph/gradient", "head"}, // backbone: an entry holds its preprocessing
	"models/architecture":         {"backbone", "graph"},
	"papers/recipes":              {},
	"experiments/finetune":        {"report/chart", "eval", "experiments/bench"},
	"embedding":                   {"backbone", "backbone/ort", "extraction", "features", "graph", "head", "models", "run/folder", "search"},
	"extraction":                  {"backbone", "backbone/ort", "features", "run/config", "internal/hint", "models"},
	"run/folder":                  {"backbone", "datasets", "datasets/imageroot", "run/comparison", "extraction", "features", "head", "models", "filters/noiserate", "run/config", "internal/hint", "internal/lookup", "train", "train/samples"},
	"report":                      {"report/chart", "datasets", "datasets/glyphs", "eval", "run/comparison", "audit/suspects", "features", "filters", "run/config", "internal/lookup", "run/folder", "train"},
	"run":                         {"datasets", "eval", "run/comparison", "features", "filters", "filters/correction", "filters/noiserate", "filters/selfpaced", "head", "run/config", "internal/hint", "internal/lookup", "losses", "models", "run/folder", "train", "train/peers", "train/samples", "train/selective", "run/tuning"},
	"run/tuning":                  {"backbone", "backbone/live", "backbone/ort", "features", "graph", "graph/gradient", "head", "run/config", "internal/hint", "models", "run/folder"},
	"run/config":                  {"losses", "filters", "filters/correction", "filters/selfpaced", "train", "train/peers", "train/selective", "head"},
	"internal/atomicfile":         {},
	"internal/testing/mattest":    {"datasets/matfile"},
	"internal/glyphnet":           {"datasets", "datasets/glyphs", "graph", "graph/gradient", "backbone/ort", "internal/ortlib", "features", "models/architecture", "train"},
	"internal/hint":               {},
	"internal/lookup":             {"datasets", "features", "internal/hint"},
	"internal/testing/million":    {"features", "search"},
	"internal/catalog":            {},
	"internal/ortlib":             {},
	"internal/testing/orttest":    {"backbone/ort", "internal/ortlib"},
	"internal/testing/reference":  {},
	"internal/rules":              {},
	"papers/studies":              {"report/chart"},
	"review":                      {"datasets", "audit/suspects", "review/decisions", "review/pictures"},
	"review/decisions":            {},
	"review/pictures":             {"backbone"},
	"search":                      {"eval", "features"},
	"search/qdrant":               {},
	"internal/testing/qdranttest": {},
	"internal/spread":             {},
	"internal/vectorfile":         {},
	"experiments/audit":           {"backbone/ort", "datasets", "eval", "audit/findings", "audit/judges", "features", "head", "internal/ortlib", "train", "audit/crossfit"},
	"experiments/beyond":          {"experiments/bench"},
	"experiments/bench":           {},
	"experiments/prepare":         {"datasets"},
	"experiments/samples":         {},
}

// only says which rooms alone (parted by spaces) may import a thing of the outside, with all that lies below it.
var only = map[string]string{
	"gorgonia.org":                      "head",
	"github.com/yalue/onnxruntime_go":   "backbone/ort",
	"C":                                 "backbone/ort",
	"modernc.org/sqlite":                "review/decisions",
	"github.com/urfave/cli":             "cmd/winnow",
	"github.com/disintegration/imaging": "backbone",
	"github.com/qdrant/go-client":       "search/qdrant internal/testing/qdranttest", // a client, and a server to test it by
	"google.golang.org/grpc":            "search/qdrant internal/testing/qdranttest",
}

func TestImports(t *testing.T) {
	root := reference.Root(t)
	seen := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != root {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		seen++
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		room := filepath.ToSlash(filepath.Dir(rel))
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if why := forbidden(room, name); why != "" {
				t.Errorf("%s imports %q: %s", rel, name, why)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Fatal("no Go file was seen")
	}
}

// forbidden says why a room may not import a path, or "".
func forbidden(room, name string) string {
	for thing, owner := range only {
		if (name == thing || strings.HasPrefix(name, thing+"/")) && !slices.Contains(strings.Fields(owner), room) {
			return "only " + owner + " may"
		}
	}
	inner, ours := strings.CutPrefix(name, "winnow/")
	if !ours || strings.HasPrefix(room, "cmd/") || inner == "internal/atomicfile" || inner == "internal/catalog" {
		return ""
	}
	rooms, ok := allowed[room]
	if !ok {
		return "the room " + room + " is not in the table of rules_test.go"
	}
	for _, r := range rooms {
		if r == inner {
			return ""
		}
	}
	return "the table allows " + room + " only " + strings.Join(rooms, ", ")
}

func TestForbiddenIsSeen(t *testing.T) {
	for _, c := range []struct{ room, name string }{
		{"train", "winnow/datasets"},
		{"filters", "winnow/losses"},
		{"losses", "gorgonia.org/gorgonia"},
		{"train", "gorgonia.org/gorgonia/ops/nn"},
		{"features", "gorgonia.org/vecf32"},
		{"models", "gorgonia.org/tensor/native"},
		{"eval", "github.com/urfave/cli/v2"},
		{"backbone", "github.com/yalue/onnxruntime_go"},
		{"train", "C"},
		{"cmd/winnow", "github.com/qdrant/go-client/qdrant"},
		{"nowhere", "winnow/features"},
	} {
		if forbidden(c.room, c.name) == "" {
			t.Errorf("%s importing %s was let through", c.room, c.name)
		}
	}
}
