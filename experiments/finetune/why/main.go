// Command why measures how a network is fine-tuned on partly wrong labels: see why.md next to its folder. An observer
// compares the trainings, which do not know the truth, with it. Every quantity has a CSV file; a training whose lines
// exist is not repeated.
//
//	go run ./experiments/finetune/why train -set birds-224 -noise flipped-50 -arm default -manifest cub50.csv \
//	    -root cub.zip -features cub.features -weights stage5
//	go run ./experiments/finetune/why views -set birds-224 -manifest cub.csv -root cub.zip -model mobilenetv2 \
//	    -keep /tmp/views
//	go run ./experiments/finetune/why past -set birds-224 -noise clean -arm "20 epochs" -manifest cub.csv -run RUN
//	go run ./experiments/finetune/why page
package main

import (
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const usage = `usage: why train -set NAME -noise NAME -arm ARM -manifest FILE -root DIR -features DIR [-weights all]
                 [-epochs 4] [-augment auto] [-choice]
       why views -set NAME -manifest FILE -root DIR -model NAME -keep DIR [-raw]
       why past -set NAME -noise NAME -arm NAME -manifest FILE -run DIR
       why page`

func main() {
	log.SetFlags(0)
	commands := map[string]func(context.Context, []string) error{"train": trainings, "views": views, "past": past,
		"page": page}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		log.Fatal(usage)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := commands[os.Args[1]](ctx, os.Args[2:])
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// newFlags returns a command's flags; every command has -here.
func newFlags(name string) (*flag.FlagSet, *string) {
	f := flag.NewFlagSet(name, flag.ExitOnError)
	return f, f.String("here", "experiments/finetune", "folder of why.md; the tables and figures are in its folder why")
}

// cell identifies a training; the first columns of every table are its fields.
type cell struct{ set, noise, arm string }

func (c cell) columns() []string { return []string{c.set, c.noise, c.arm} }

func (c cell) String() string { return strings.Join(c.columns(), ", ") }

// tables are the CSV files, with their columns after the cell's.
var tables = map[string][]string{
	// P@1 by true labels of training and of validation images
	"retrieval": {"epoch", "seen", "unseen"},
	"filter":    {"epoch", "told", "right", "kept", "precision", "recall"}, // shares
	// lengths at the embedding; wrong: share from rows with a wrong label
	"pulls": {"epoch", "batch", "bank", "cosine", "wrong"},
	// cosine of an image's vector and its vector age steps ago
	"drift": {"epoch", "age", "cosine", "pairs"},
	"bank":  {"epoch", "members", "own", "positives", "push", "nearest"}, // own: an image's own older vectors
	"kappa": {"epoch", "q1", "median", "q3"},
	// wrong: share of validation's labels; best: how often it is chosen; P@1 by true labels
	"choice": {"wrong", "best", "lost", "lost95", "last", "top"},
	"views":  {"own", "others", "own_whitened", "others_whitened"}, // mean cosines; the arm is the recipe
}

// table is the lines of a file, with columns by name.
type table []map[string]string

func readTable(here, name string) (table, error) {
	f, err := os.Open(filepath.Join(here, "why", name+".csv"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil || len(lines) == 0 {
		return nil, err
	}
	var t table
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, column := range lines[0] {
			row[column] = line[i]
		}
		t = append(t, row)
	}
	return t, nil
}

// of returns the lines of a cell; "" in it matches any value.
func (t table) of(c cell) (found table) {
	for _, row := range t {
		if (c.set == "" || row["set"] == c.set) && (c.noise == "" || row["noise"] == c.noise) &&
			(c.arm == "" || row["arm"] == c.arm) {
			found = append(found, row)
		}
	}
	return found
}

// distinct returns the different values of a column, in their order.
func (t table) distinct(column string) (list []string) {
	for _, row := range t {
		if !slices.Contains(list, row[column]) {
			list = append(list, row[column])
		}
	}
	return list
}

// numbers returns two columns as numbers, without lines in which one is empty.
func (t table) numbers(x, y string) (xs, ys []float64) {
	for _, row := range t {
		a, errX := strconv.ParseFloat(row[x], 64)
		b, errY := strconv.ParseFloat(row[y], 64)
		if errX == nil && errY == nil {
			xs, ys = append(xs, a), append(ys, b)
		}
	}
	return xs, ys
}

// write adds a cell's lines to a table.
func write(here, name string, c cell, lines [][]string) error {
	path := filepath.Join(here, "why", name+".csv")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	if info, err := f.Stat(); err == nil && info.Size() == 0 {
		w.Write(append([]string{"set", "noise", "arm"}, tables[name]...)) // Error returns its error
	}
	for _, line := range lines {
		w.Write(append(c.columns(), line...))
	}
	w.Flush()
	return errors.Join(w.Error(), f.Close())
}

// line writes numbers with four digits.
func line(values ...float64) (list []string) {
	for _, v := range values {
		if v != v {
			list = append(list, "")
			continue
		}
		list = append(list, strconv.FormatFloat(v, 'g', 4, 64))
	}
	return list
}

// need returns an error for empty flags.
func need(f *flag.FlagSet, names ...string) error {
	for _, name := range names {
		if f.Lookup(name).Value.String() == "" {
			return fmt.Errorf("%s: -%s is missing", f.Name(), name)
		}
	}
	return nil
}
