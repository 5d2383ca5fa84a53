package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/datasets/imageroot"
	"winnow/datasets/published"
	"winnow/internal/catalog"
)

// presetNames are the datasets that data import knows: those of the catalog, and the embedded one.
func presetNames() []string {
	var names []string
	for _, p := range published.Catalog() {
		names = append(names, p.Name)
	}
	names = append(names, glyphsPreset)
	slices.Sort(names)
	return names
}

// dataPreset writes the manifest of a known dataset, split by one of its protocols.
func dataPreset(c *cli.Context) error {
	if c.String("preset") == glyphsPreset {
		return importGlyphs(c)
	}
	preset, err := presetAsked(c)
	if err != nil {
		return err
	}
	root, err := presetRoot(c.String("root"))
	if err != nil {
		return err
	}
	opts := published.Options{Root: c.String("root"), Protocol: c.String("protocol"), Human: c.String("human")}
	if opts.Labels, err = fileFlag(c, "human-labels"); err != nil {
		return err
	}
	if opts.Corrected, err = fileFlag(c, "corrected-labels"); err != nil {
		return err
	}
	if opts.Given, err = givenList(c.String("given")); err != nil {
		return err
	}
	r, err := preset.Dataset(root, opts)
	if err != nil {
		return err
	}
	if share := c.Float64("validation"); share > 0 {
		if err := holdOut(r.Dataset, share, c.Uint64("seed")); err != nil {
			return err
		}
	}
	if err := writeManifest(c.String("out"), r.Dataset); err != nil {
		return err
	}
	printPreset(c, preset, r)
	return nil
}

// printPreset tells what was written, and what differs from what was published.
func printPreset(c *cli.Context, p published.Preset, r *published.Result) {
	w := c.App.Writer
	fmt.Fprintf(w, "%s, protocol %s: %s\n", p.Title, r.Protocol, p.Protocols[r.Protocol].Note)
	printCounts(w, r.Dataset)
	if r.LeftOut > 0 {
		fmt.Fprintf(w, "%-10s %7d images, which stand in no split of the protocol\n", "left out", r.LeftOut)
	}
	if r.NotListed > 0 {
		fmt.Fprintf(w, "%-10s %7d training images, which %s does not list\n", "left out", r.NotListed, c.String("given"))
	}
	if r.Dataset.HasTruth(datasets.Train) {
		printNoise(w, datasets.Train, r.Dataset.Noise(datasets.Train))
	}
	for _, note := range r.Notes {
		fmt.Fprintln(w, note)
	}
	for _, text := range r.Warnings {
		fmt.Fprintf(c.App.ErrWriter, "winnow: warning: %s, %s: %s\n", p.Name, r.Protocol, text)
	}
}

// givenList reads one of PRISM's lists, nil for no name.
func givenList(name string) (*datasets.Dataset, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return published.ReadList(f, name)
}

// presetAsked is the preset of the flags, which are checked here.
func presetAsked(c *cli.Context) (published.Preset, error) {
	preset, unknown := published.Find(c.String("preset"))
	protocol, share := c.String("protocol"), c.Float64("validation")
	if err := noArguments(c); err != nil {
		return preset, err
	}
	for _, name := range notWithPresets() {
		if c.IsSet(name) {
			return preset, misused("data import: --%s does not go with --preset, which has splits of its own (--protocol)", name)
		}
	}
	if c.IsSet("given") && c.IsSet("validation") {
		return preset, misused("data import: --validation does not go with --given, whose labels are noisy")
	}
	_, known := preset.Protocols[protocol]
	switch {
	case unknown != nil:
		return preset, misused("--preset: %q is unknown%s, expected one of %s", c.String("preset"), catalog.Ask(c.String("preset"), presetNames()), strings.Join(presetNames(), ", "))
	case protocol != "" && !known:
		return preset, misused("--protocol: %s has no %q%s, expected one of %s", preset.Name, protocol, catalog.Ask(protocol, preset.ProtocolNames()), strings.Join(preset.ProtocolNames(), ", "))
	case c.IsSet("human") && !slices.Contains(preset.Human, c.String("human")):
		return preset, misused("--human: %s has no label set %q, expected one of: %s", preset.Name, c.String("human"), orNone(preset.Human))
	case c.IsSet("human-labels") && preset.Human == nil:
		return preset, misused("data import: --human-labels does not go with %s, only with cifar10n and cifar100n", preset.Name)
	case c.IsSet("corrected-labels") && !preset.Corrects:
		return preset, misused("data import: --corrected-labels does not go with %s, only with mnist and CIFAR", preset.Name)
	case c.String("root") == "":
		return preset, misused("data import: --preset needs --root, the folder with the dataset's files")
	case share < 0 || share >= 1:
		return preset, misused("--validation: found %v, expected a share from 0 to below 1", share)
	}
	return preset, nil
}

// presetFlags are the flags of winnow data import that go with --preset.
func presetFlags() []string {
	return []string{"root", "protocol", "validation", "human", "human-labels", "corrected-labels", "given"}
}

// notWithPresets are the flags of winnow data import that do not go with --preset.
func notWithPresets() []string { return []string{"format", "strip-prefix", "split", "by"} }

// orNone lists words, or says that there are none.
func orNone(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

// fileFlag reads the file that a flag names, nil where it names none.
func fileFlag(c *cli.Context, flag string) (*published.File, error) {
	name := c.String(flag)
	if name == "" {
		return nil, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return &published.File{Name: name, Data: data}, nil
}

// presetRoot opens a published dataset: its folder, or a .zip file of it.
func presetRoot(name string) (fs.FS, error) {
	if imageroot.IsZip(name) {
		return imageroot.OpenZip(name)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("root: %s: is a file, expected the folder with the dataset's files, or a .zip file of it", name)
	}
	return os.DirFS(name), nil
}

// holdOut gives a share of each class's training images to validation.
func holdOut(d *datasets.Dataset, share float64, seed uint64) error {
	train := d.Select(datasets.Train)
	part := &datasets.Dataset{Classes: d.Classes}
	for _, i := range train {
		part.Samples = append(part.Samples, d.Samples[i])
	}
	rng := rand.New(rand.NewPCG(seed, 0x686f6c64)) // "hold"
	if err := part.SplitByImage([]datasets.Share{{Split: datasets.Train, Share: 1 - share}, {Split: datasets.Validation, Share: share}}, rng); err != nil {
		return err
	}
	for k, i := range train {
		d.Samples[i].Split = part.Samples[k].Split
	}
	return nil
}

// readSource reads a manifest, an image folder, or a .zip file of one.
func readSource(source string, opts datasets.ReadOptions) (*datasets.Dataset, error) {
	if !imageroot.IsZip(source) {
		return datasets.Read(source, opts)
	}
	root, err := imageroot.OpenZip(source)
	if err != nil {
		return nil, err
	}
	return datasets.ReadFolders(root, source, opts)
}
