package main

import (
	"archive/zip"
	"flag"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"winnow/datasets"
)

// cub writes a manifest for a zip file with CUB's folders NNN.Class_name, which winnow reads without unpacking. The
// protocol prism splits the classes as PRISM does: 1 to 100 train, 101 to 150 validation, 151 to 200 test. The protocol
// half uses all classes from 101 on for test, as most papers do.
func cub(args []string, stdout, stderr io.Writer) error {
	f, out := newFlags("cub", stderr)
	protocol := f.String("protocol", "prism", "prism or half")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *out == "" || f.NArg() != 1 || *protocol != "prism" && *protocol != "half" {
		fmt.Fprint(stderr, usage)
		return flag.ErrHelp
	}
	z, err := zip.OpenReader(f.Arg(0))
	if err != nil {
		return fmt.Errorf("prepare: %s: %w", f.Arg(0), err)
	}
	defer z.Close()
	var paths []string
	for _, file := range z.File {
		if strings.EqualFold(path.Ext(file.Name), ".jpg") {
			paths = append(paths, file.Name)
		}
	}
	slices.Sort(paths)
	d, err := cubDataset(paths, *protocol)
	if err != nil {
		return err
	}
	return writeManifest(*out, d, stdout)
}

// cubDataset derives class and split from the folders' names.
func cubDataset(paths []string, protocol string) (*datasets.Dataset, error) {
	d := &datasets.Dataset{}
	ids := map[string]int{}
	for _, p := range paths {
		class := path.Base(path.Dir(p))
		number, err := strconv.Atoi(strings.SplitN(class, ".", 2)[0])
		if err != nil || number < 1 || number > 200 {
			return nil, fmt.Errorf("prepare: %s: expected a folder as 001.Black_footed_Albatross, 1 to 200", p)
		}
		if _, known := ids[class]; !known {
			ids[class] = len(ids)
			d.Classes = append(d.Classes, class)
		}
		split := datasets.Test
		switch {
		case number <= 100:
			split = datasets.Train
		case number <= 150 && protocol == "prism":
			split = datasets.Validation
		}
		d.Samples = append(d.Samples, datasets.Sample{Path: p, Label: ids[class], True: ids[class], Split: split})
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("prepare: found no .jpg")
	}
	return d, nil
}
