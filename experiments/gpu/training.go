package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// besideTorch is the column beside the ways in a cell of training.
const besideTorch = "PyTorch"

// cell is a network at a batch in a precision, measured in every way.
type cell struct {
	n     *network
	batch int
	tf32  bool
}

func (c cell) precision() string {
	if c.tf32 {
		return "TF32"
	}
	return "float32"
}

// of names a measurement of the cell.
func (c cell) of(what string) []string {
	return []string{c.n.name, fmt.Sprint("batch ", c.batch), c.precision(), what}
}

// torchNames are the networks that PyTorch has too, by the beginnings of their names here, the most telling first.
var torchNames = [][2]string{{"ResNet-50", "resnet50"}, {"mobilenetv2", "mobilenet_v2"}, {"ViT-S/16", "vit_small"},
	{"googlenet", "googlenet"}}

// rank returns the place of a network in torchNames, or len(torchNames).
func (n *network) rank() int {
	i := slices.IndexFunc(torchNames, func(t [2]string) bool { return strings.HasPrefix(n.name, t[0]) })
	if i < 0 {
		return len(torchNames)
	}
	return i
}

// cells returns what is measured, the most telling first: three networks at the usual batch, then at the small one,
// then the fourth, then large batches.
func (b *bench) cells(list []*network) (cells []cell) {
	list = slices.DeleteFunc(slices.Clone(list), func(n *network) bool { return n.rank() == len(torchNames) })
	few, precisions := list[:min(3, len(list))], []bool{false}
	rest := list[len(few):]
	if b.dev.Device().CUDA {
		precisions = append(precisions, true)
	}
	add := func(n *network, batch int, tf32 bool) {
		if c := (cell{n, batch, tf32}); !slices.Contains(cells, c) {
			cells = append(cells, c)
		}
	}
	for _, n := range few {
		for _, tf32 := range precisions {
			add(n, b.steps[0], tf32)
		}
	}
	for _, batch := range b.steps[1:min(2, len(b.steps))] {
		for _, n := range few {
			add(n, batch, false)
		}
	}
	for _, n := range rest {
		add(n, b.steps[0], false)
	}
	for _, tf32 := range precisions {
		for _, batch := range b.steps {
			for _, n := range list {
				add(n, batch, tf32)
			}
		}
	}
	return cells
}

// training measures steps of fine-tuning in every way beside PyTorch's.
func training(b *bench) error {
	p := &pyTorch{b: b}
	defer p.close()
	if err := errors.Join(p.start(), b.open()); err != nil {
		return err
	}
	list, err := b.networks()
	if err != nil {
		return err
	}
	if err := p.ready(); err != nil { // its import would disturb what is measured here
		fmt.Fprintf(b.log, "training: %v\n", err) // asked, it says so again
	}
	var nets opened
	defer nets.close()
	late := []func() error{}
	for _, c := range b.cells(list) {
		for at, w := range ways() {
			take := func() error { return b.trainCell(&nets, c, w) }
			// The slow old way is measured beside the others where the batch is the usual one, and last elsewhere.
			if at == len(ways())-1 && (c.tf32 || c.batch != b.steps[0]) {
				late = append(late, take)
				continue
			}
			if err := take(); err != nil {
				return err
			}
		}
		if err := b.measure(func() (Record, error) {
			return p.ask(b.question(torchNames[c.n.rank()][1], "train", c.precision(), c.batch))
		}, c.of(besideTorch)...); err != nil {
			return err
		}
	}
	for _, take := range late {
		if err := take(); err != nil {
			return err
		}
	}
	return nil
}

// trainCell measures a cell in a way.
func (b *bench) trainCell(nets *opened, c cell, w way) error {
	return b.measureWay(w, func() (Record, error) {
		began := time.Now()
		key := c.n.name + c.precision() + w.name
		t, err := nets.get(key, c.batch, func() (*trained, error) { return b.openTrained(c.n, w, c.tf32) })
		if err != nil {
			nets.close()
			return Record{}, err
		}
		opening := time.Since(began).Seconds()
		r, err := b.pace(t, c.n, c.batch)
		if err != nil {
			nets.close() // what is left of it may be broken
			return r, err
		}
		r.Values["opening_s"] = opening
		return r, nil
	}, c.of(w.name)...)
}

// mostDeaths is how often a way may end its process before it is given up.
const mostDeaths = 2

// measureWay measures, unless the way has ended the process too often.
func (b *bench) measureWay(w way, take func() (Record, error), of ...string) error {
	deaths := 0
	for _, r := range b.part.Records {
		if r.Error == died && slices.Contains(r.Of, w.name) {
			deaths++
		}
	}
	if deaths >= mostDeaths {
		take = func() (Record, error) {
			return Record{}, fmt.Errorf("not tried: this way ended the process %d times", deaths)
		}
	}
	return b.measure(take, of...)
}
